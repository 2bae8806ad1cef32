"""Gathers, scatters and bags of NumPy arrays: functions by NumPy's names, and operators of gather-core."""

from ._gather import *
from ._gather import __all__, __version__
