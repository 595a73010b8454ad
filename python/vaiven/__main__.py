# SPDX-License-Identifier: BSD-3-Clause
"""The `vaiven` command."""

from vaiven.cli import start


def main() -> None:
    """Runs the command line and ends with its exit status."""
    start()


if __name__ == "__main__":
    main()
