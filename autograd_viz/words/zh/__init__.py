"""简体中文。节点名和属性名与代码相同。"""

from ..packed import texts_of
from ..texts import texts_in

globals().update(texts_of(__name__) or texts_in(__name__, __path__))
