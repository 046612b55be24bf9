"""aiozk's LeaderElection, a new object for each candidacy."""

import aiozk
import zooquake
from zooquake_aiozk import Sequential, wait


class Election(Sequential, zooquake.Grants):
    def acquire(self, deadline):
        self.recipe = self.zk.recipes.LeaderElection("/election")
        wait(self.recipe.volunteer())
        path = self.recipe.owned_paths[self.recipe.LABEL]
        self.own[path] = (None, None)
        try:
            wait(self.recipe.wait_for_leadership(deadline.left()))
        except aiozk.exc.TimeoutError:
            wait(self.recipe.resign())
            self.own.pop(path)
            raise zooquake.TimedOut("it was not elected") from None
        self.created(path)
        return {"path": path}

    def release(self, held):
        wait(self.recipe.resign())
        return self.forget(held["path"])

    def lost(self, held, state):
        """Also where the election itself says that it leads no more."""
        return super().lost(held, state) or (None if self.recipe.has_leadership else "the election says so")


zooquake.run(Election)
