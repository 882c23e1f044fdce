"""The ledger and the gate of a run on a cluster: an actor on the driver's node keeps them, for all nodes.

There the database of the home is on a disk of its own machine, and runs beside this one use it too. Who
calls are of is told by the try of a document: when that is over, or lost with its node, what it held is free.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from drac_pipeline.errors import DracError
from drac_pipeline.llm.books import DATABASE_FILE, Account, Books, open_here
from drac_pipeline.llm.clock import Clock
from drac_pipeline.llm.database import Database
from drac_pipeline.llm.gate import Gate
from drac_pipeline.llm.ledger import Ledger
from drac_pipeline.llm.protocol import ModelUnavailable

_TURN_SECONDS = 0.02  # between two looks at who may come in
_LOOKS = 100  # of which one also looks for processes of this machine that have ended
CALLS_AT_ONCE = 20_000  # that wait in the actor


class Bookkeeper:
    """The actor's class; `state` is the folder of ledger and caches on this machine."""

    def __init__(self, state: str) -> None:
        self._state = Path(state)
        self._database = Database(self._state / DATABASE_FILE)
        self._books: dict[Account, tuple[Ledger, Gate]] = {}
        self._waiting: dict[Account, dict[int, asyncio.Future[None]]] = defaultdict(dict)
        self._attended: dict[Account, asyncio.Task[None]] = {}
        self._entrants: dict[int, set[tuple[Account, int]]] = defaultdict(set)
        self._calls: dict[int, set[tuple[Account, int]]] = defaultdict(set)

    async def call(
        self,
        attempt: int,
        account: Account,
        part: str,
        name: str,
        args: tuple[Any, ...],
        more: dict[str, Any],
    ) -> Any:
        """What the ledger or the gate of an account says to a try of a document."""
        if account not in self._books:
            self._books[account] = open_here(account, self._database, self._state, Clock())
        ledger, gate = self._books[account]
        if part == "gate":
            if name == "enter":
                return await self._enter(attempt, account, *args)
            if name == "leave":
                self._entrants[attempt].discard((account, args[0]))
            if name == "room":
                return gate.room
            return getattr(gate, name)(*args, **more)
        result = getattr(ledger, name)(*args, **more)
        if name == "begin":
            self._calls[attempt].add((account, result))
        elif name == "end":
            self._calls[attempt].discard((account, args[0]))
        return result

    async def gone(self, attempt: int) -> None:
        """A try is over: what it still holds is nobody's."""
        for account, number in self._entrants.pop(attempt, set()):
            if future := self._waiting[account].pop(number, None):
                future.cancel()
            self._books[account][1].leave(number)
        for account, number in self._calls.pop(attempt, set()):
            self._books[account][0].interrupt([number])

    async def _enter(self, attempt: int, account: Account, weight: int) -> int:
        gate = self._books[account][1]
        number = gate.stand(weight)
        self._entrants[attempt].add((account, number))
        turn = self._waiting[account][number] = asyncio.get_running_loop().create_future()
        if account not in self._attended:
            self._attended[account] = asyncio.create_task(self._attend(account))
        try:
            await turn
        except BaseException:
            self._entrants[attempt].discard((account, number))
            gate.leave(number)
            raise
        return number

    async def _attend(self, account: Account) -> None:
        """Let in whose turn it is while anybody waits: one look for all of them."""
        gate, waiting = self._books[account][1], self._waiting[account]
        looks = 0
        try:
            while waiting:
                try:
                    for number in gate.admit(waiting):
                        waiting.pop(number).set_result(None)
                    if looks % _LOOKS == 0:
                        gate.forget_the_dead()
                except DracError as e:
                    for turn in waiting.values():
                        turn.set_exception(e)
                    waiting.clear()
                looks += 1
                await asyncio.sleep(_TURN_SECONDS)
        finally:
            del self._attended[account]


def far_books(ask: Callable[..., Any], account: Account) -> Books:
    """Books that an actor keeps; `ask` reaches it."""
    ledger = cast(Ledger, _Far(ask, account, "ledger"))
    return Books(ledger, cast(Gate, _FarGate(ask, account, "gate")), lambda: None)


class _Far:
    """Has the methods of what is kept elsewhere."""

    def __init__(self, ask: Callable[..., Any], account: Account, part: str) -> None:
        self._ask, self._account, self._part = ask, account, part

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            return self._ask("books", self._account, self._part, name, args, more)

        return call


class _FarGate(_Far):
    @property
    def room(self) -> float:
        return self._ask("books", self._account, self._part, "room", (), {})

    @contextlib.contextmanager
    def entered(self, weight: int) -> Iterator[None]:
        number = self._ask("books", self._account, self._part, "enter", (weight,), {})
        try:
            yield
        finally:
            self._ask("books", self._account, self._part, "leave", (number,), {})


NO_BOOKS = ModelUnavailable(
    "the ledger of the run, on the driver's machine, was not reached",
    remedy="Run again; nothing that was finished is paid again.",
)
