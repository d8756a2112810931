"""The notebooks' kernel asks this name for packages. All that it needs is loaded already, and the site fetches no others."""

from .piplite import install

__all__ = ["install"]
