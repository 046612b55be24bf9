"""The coordinator of tooz that a client works with."""

from tooz import coordination


class Coordinated:
    """`coordinator` opens the session of its ZooKeeper driver, a KazooClient, which the kit follows."""

    coordinator = None

    @classmethod
    def connect(cls, hosts, timeout):
        cls.coordinator = coordination.get_coordinator(f"zookeeper://{hosts}?timeout={int(timeout)}", b"member")
        cls.coordinator.start()
        return cls.coordinator._coord
