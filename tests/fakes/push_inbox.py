"""Where people are asked about pushes, in memory; while `down`, nobody can be asked."""

from entrance.errors import Unavailable
from entrance.ports import HeldPush


class FakePushInbox:
    """`entrance.ports.PushInbox` for tests."""

    def __init__(self, told: str = "as A-1; a person looks at it") -> None:
        self.told = told
        self.asked: list[HeldPush] = []
        self.down = False

    async def ask(self, push: HeldPush) -> str:
        if self.down:
            raise Unavailable("the inbox can't be reached")
        if push.id not in {one.id for one in self.asked}:
            self.asked.append(push)
        return self.told
