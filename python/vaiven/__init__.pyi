# SPDX-License-Identifier: BSD-3-Clause
# What vaiven.__getattr__ loads, for type checkers and editors.

from vaiven.errors import VaivenError as VaivenError
from vaiven.face.group import Group as Group
from vaiven.face.group import GroupError as GroupError
from vaiven.face.lab import Lab as Lab
from vaiven.face.lab import lab as lab
from vaiven.face.measure import measure as measure
from vaiven.face.measure import resume as resume
from vaiven.face.run import Run as Run
from vaiven.face.run import Runs as Runs
from vaiven.face.run import compare as compare
from vaiven.face.run import history as history
from vaiven.face.run import open as open
from vaiven.face.run import overlay as overlay
from vaiven.face.run import runs as runs
from vaiven.results.frames import to_pandas as to_pandas
from vaiven.results.results import Results as Results
from vaiven.stats.estimate import Estimate as Estimate

__version__: str
