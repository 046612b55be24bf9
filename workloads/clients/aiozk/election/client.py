"""aiozk's LeaderElection, a new object for each candidacy."""

import aiozk
import zooquake
from zooquake_aiozk import Aiozk, wait


class Election(Aiozk, zooquake.Grants):
    election = None

    def acquire(self, deadline):
        self.election = self.zk.recipes.LeaderElection("/election")
        wait(self.election.volunteer())
        path = self.election.owned_paths[self.election.LABEL]
        self.own[path] = (None, None)
        try:
            wait(self.election.wait_for_leadership(deadline.left()))
        except aiozk.exc.TimeoutError:
            wait(self.election.resign())
            self.own.pop(path)
            raise zooquake.TimedOut("it was not elected") from None
        self.created(path)
        return {"path": path}

    def release(self, held):
        wait(self.election.resign())
        return self.forget(held["path"])

    def lost(self, held, state):
        """Also where the election itself says that it leads no more."""
        return super().lost(held, state) or (None if self.election.has_leadership else "the election says so")

    def znodes(self):
        stands = {} if self.election is None else dict.fromkeys(list(self.election.owned_paths.values()), (None, None))
        return {**stands, **self.own}


zooquake.run(Election)
