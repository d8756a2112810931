"""A cursor over a backward pass: forwards and back, live or recorded."""

from .stepper import Stepper as Stepper
