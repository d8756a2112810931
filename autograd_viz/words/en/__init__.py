"""English, the language of which the others are translations."""

from ..texts import texts_in

globals().update(texts_in(__name__, __path__))
