# SPDX-License-Identifier: BSD-3-Clause
"""Every claim can hold and can fail, and its text is what is judged: a turned comparison or another number shows."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

import msgspec
import pytest

from vaiven.papers.claims import Claim, published
from vaiven.papers.judge import Candidate, Word, weigh

from . import runs

pytestmark = pytest.mark.slow

CLAIMS = [claim for claim in published() if claim.check]
TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Lt}
FACTORS = (1.5, 1 / 1.5)

# A definition: no run can contradict it, only a mistake of ours in `bwb`.
NEVER_FAILS = {"A66"}


def newest(world: runs.World) -> list[Candidate]:
    return sorted(world.candidates, key=lambda one: (one.begun, one.id), reverse=True)


@pytest.fixture(scope="module")
def worlds() -> list[list[Candidate]]:
    return [newest(world) for world in runs.WORLDS]


@pytest.fixture(scope="module")
def words(worlds: list[list[Candidate]]) -> dict[str, list[Word]]:
    """claim -> its word in each world."""
    return {claim.id: [weigh(claim, world).word for world in worlds] for claim in CLAIMS}


def turned(check: str) -> Iterator[str]:
    """The check with one comparison turned, each in its turn."""
    for number, node in enumerate(ast.walk(ast.parse(check, mode="eval"))):
        for at, op in enumerate(getattr(node, "ops", ())):
            tree = ast.parse(check, mode="eval")
            list(ast.walk(tree))[number].ops[at] = TURNED[type(op)]()
            yield ast.unparse(tree)


def values(tree: ast.AST) -> list[ast.Constant]:
    """The numbers of a check that are compared with: no sizes, counts and powers, which are arguments or in lists."""
    found = []

    def visit(node: ast.AST, compared: bool) -> None:
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                visit(side, True)
            return
        if isinstance(node, ast.Constant) and compared and isinstance(node.value, int | float) and node.value:
            found.append(node)
        for child in ast.iter_child_nodes(node):
            visit(child, compared and isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow))

    visit(tree, False)
    return found


def moved(check: str) -> Iterator[tuple[float, float, str]]:
    """(value, factor, the check with that value moved), each in its turn."""
    for number, value in enumerate(values(ast.parse(check, mode="eval"))):
        for factor in FACTORS:
            tree = copy.deepcopy(ast.parse(check, mode="eval"))
            values(tree)[number].value = value.value * factor
            yield value.value, factor, ast.unparse(tree)


def shows(claim: Claim, check: str, words: list[Word], worlds: list[list[Candidate]]) -> bool:
    """Whether the other check changes the word anywhere."""
    other = msgspec.structs.replace(claim, check=check)
    return any(weigh(other, world).word is not word for word, world in zip(words, worlds, strict=True))


def test_every_claim_holds_somewhere_and_fails_somewhere(words: dict[str, list[Word]]) -> None:
    wanted = {Word.HOLDS, Word.DOES_NOT_HOLD}
    lacking = {id: set(found) for id, found in words.items() if not wanted <= set(found)}
    assert set(lacking) == NEVER_FAILS


def test_a_turned_comparison_changes_a_verdict(words: dict[str, list[Word]], worlds: list[list[Candidate]]) -> None:
    unseen = [
        (claim.id, check)
        for claim in CLAIMS
        for check in turned(claim.check)
        if not shows(claim, check, words[claim.id], worlds)
    ]
    assert unseen == []


# (claim, value, factor): what may be moved so far and changes no word in these worlds, for another part of the claim is
# nearer there, or they are too far apart to tell.
WITHIN_TOLERANCE = {
    ("A02", 1, 1.5), ("A09", 0.1, 0.67), ("A09", 0.1, 1.5), ("A11", 0.9, 0.67), ("A12", 0.001, 0.67),
    ("A12", 0.01, 1.5), ("A13", 3, 0.67), ("A13", 3, 1.5), ("A18", 0.4, 0.67), ("A18", 0.5, 1.5), ("A18", 0.8, 0.67),
    ("A18", 0.9, 1.5), ("A21", 0.5, 1.5), ("A21", 1.2, 1.5), ("A26", 0.0055, 1.5), ("A27", 3, 1.5), ("A28", 2, 0.67),
    ("A28", 2, 1.5), ("A29", 0.7, 0.67), ("A31", 0.5, 1.5), ("A31", 1.5, 1.5), ("A31", 2, 0.67), ("A31", 2, 1.5),
    ("A32", 2, 0.67), ("A32", 2, 1.5), ("A34", 0.01, 1.5), ("A36", 1.1, 0.67), ("A40", 0.0003, 0.67),
    ("A40", 0.003, 1.5), ("A42", 3, 0.67), ("A42", 3, 1.5), ("A42", 10, 0.67), ("A42", 10, 1.5), ("A43", 1.001, 0.67),
    ("A46", 0.95, 1.5), ("A47", 0.5, 0.67), ("A49", 2, 0.67), ("A49", 2, 1.5), ("A50", 1.25, 1.5), ("A51", 1.1, 1.5),
    ("A52", 1.5, 1.5), ("A52", 2, 1.5), ("A53", 0.75, 0.67), ("A54", 2, 1.5), ("A57", 1.05, 0.67), ("A61", 1.25, 1.5),
    ("A62", 2, 1.5), ("A63", 2, 1.5), ("A65", 1.5, 1.5), ("A67", 0.5, 1.5), ("A68", 1.5, 1.5), ("A70", 1.25, 1.5),
    ("A73", 1.25, 1.5), ("A74", 0.5, 0.67), ("A74", 0.5, 1.5), ("A74", 1.5, 1.5), ("A75", 1, 0.67), ("A75", 10, 1.5),
    ("B06", 1.1, 0.67), ("B06", 1.1, 1.5), ("C01", 0.0001, 0.67), ("C01", 0.0001, 1.5), ("C04", 0.8, 0.67),
    ("C16", 100, 1.5), ("C17", 0.9, 0.67), ("C17", 1.1, 1.5), ("D01", 0.8, 0.67), ("D09", 1350, 0.67),
    ("D09", 1500, 1.5), ("E04", 1, 1.5), ("E18", 0.96, 0.67), ("E27", 0.01, 1.5),
}  # fmt: skip


def test_a_moved_value_changes_a_verdict(words: dict[str, list[Word]], worlds: list[list[Candidate]]) -> None:
    tried = [(claim, *one) for claim in CLAIMS for one in moved(claim.check)]
    assert (
        len(tried) > 220
        and {(claim.id, value, round(factor, 2)) for claim, value, factor, _ in tried} > WITHIN_TOLERANCE
    )
    unseen = {
        (claim.id, value, round(factor, 2))
        for claim, value, factor, check in tried
        if not shows(claim, check, words[claim.id], worlds)
    }
    assert unseen <= WITHIN_TOLERANCE
