# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven stacks`: the ways for a message to travel, what each needs, and whether it is here."""

from __future__ import annotations


def stacks() -> None:
    """List the stacks: what each is, the sizes it carries, what it needs, and why one is not here."""
    from rich.console import Console
    from rich.table import Table

    from vaiven.run import place

    table = Table("stack", "what it is", "bytes", "answers", "needs", box=None, pad_edge=False)
    known = place.known_stacks().stacks
    for name, stack in known.items():
        if not stack.absent:
            span = f"{stack.limits.size_bytes_min} to {stack.limits.size_bytes_max}"
            table.add_row(name, stack.summary, span, " ".join(stack.questions), stack.needs)
    console = Console(highlight=False, markup=False)
    console.print(table)
    for name, stack in known.items():
        if stack.absent:
            console.print(f"not here: {name}: {stack.absent}", soft_wrap=True)
