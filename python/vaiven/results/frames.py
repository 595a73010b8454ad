# SPDX-License-Identifier: BSD-3-Clause
"""Frames of polars as frames of pandas, without any library between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaiven.errors import VaivenError

if TYPE_CHECKING:
    import pandas
    import polars as pl


def to_pandas(frame: pl.DataFrame) -> pandas.DataFrame:
    """The same rows and columns as a frame of pandas; a null is NaN there, in a column of text None.

    Raises VaivenError ("no-pandas") where pandas is not installed.
    """
    import polars as pl

    try:
        import pandas
    except ImportError as error:
        raise VaivenError(
            "pandas is not installed", "pip install pandas; frames of polars need nothing", "no-pandas"
        ) from error
    return pandas.DataFrame(
        {
            one.name: one.to_numpy() if one.dtype.is_numeric() or one.dtype == pl.Boolean else one.to_list()
            for one in frame
        }
    )
