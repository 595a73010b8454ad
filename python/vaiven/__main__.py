# SPDX-License-Identifier: BSD-3-Clause
"""The `vaiven` command."""

from vaiven.cli import start


def main() -> None:
    """Runs the command line; errors of ours become one line and exit status 1."""
    start()


if __name__ == "__main__":
    main()
