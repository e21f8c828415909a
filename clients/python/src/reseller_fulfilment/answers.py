"""Turns answers into values or exceptions, and lists into iterators."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from .rest.models.problem import Problem

Value = TypeVar("Value")
Item = TypeVar("Item")
Covariant = TypeVar("Covariant", covariant=True)


class ProblemError(Exception):
    """A refusal of the API. `code` is stable; `problem` is the whole answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.detail or problem.title} ({problem.code})")
        self.problem = problem
        self.code = str(problem.code)
        self.request_id = problem.request_id


class NoAnswerError(Exception):
    """The answer does not come from the API."""


def ok(answer: Value | Problem | None) -> Value:
    """The answer of a call, if it is no problem.

    Raises ProblemError for a refusal.
    """
    if isinstance(answer, Problem):
        raise ProblemError(answer)
    if answer is None:
        raise NoAnswerError("the answer is not one of the API")
    return answer


class Page(Protocol[Covariant]):
    """A page of a list."""

    @property
    def data(self) -> Sequence[Covariant]: ...

    @property
    def next_cursor(self) -> str | None: ...


def items(read: Callable[..., Page[Item] | Problem | None], /, **query: Any) -> Iterator[Item]:
    """All items of a list, page by page: `items(list_orders.sync, client=client, status=[...])`.

    Raises ProblemError for a refusal.
    """
    while True:
        page = ok(read(**query))
        yield from page.data
        # The feed of events has a cursor after its end, too.
        if page.next_cursor is None or getattr(page, "has_more", True) is False:
            return
        query["cursor"] = page.next_cursor
