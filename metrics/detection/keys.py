"""The names that models give to a box's parts, and the box that named numbers make."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

Coordinates = tuple[float, float, float, float]

_NO_LETTER = re.compile(r"[\W_]+")


def folded(key: str) -> str:
    """A key without width, case, accents, blanks and punctuation.

    >>> folded("X_min"), folded("Coordonnées")
    ('xmin', 'coordonnees')
    """
    text = unicodedata.normalize("NFKD", key[:100]).casefold()
    return _NO_LETTER.sub("", "".join(c for c in text if not unicodedata.combining(c)))


def _table(rows: str) -> dict[str, str]:
    """Lines of ``role: name name ...`` as a mapping from name to role."""
    pairs = (row.split(":") for row in rows.strip().splitlines())
    return {name: role.strip() for role, names in pairs for name in names.split()}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


EDGES = _table(
    """
    x0: x0
    y0: y0
    x1: x1 xmin xleft xstart left leftx minx startx topleftx lefttopx gauche 左
    y1: y1 ymin ytop ystart top topy miny starty toplefty lefttopy haut 上
    x2: x2 xmax xright xend right rightx maxx endx bottomrightx rightbottomx droite 右
    y2: y2 ymax ybottom yend bottom bottomy maxy endy bottomrighty rightbottomy bas 下
    x: x
    y: y
    width: width w boxwidth largeur 宽 宽度
    height: height h boxheight hauteur 高 高度
    cx: cx xc xcenter centerx xcentre centrex
    cy: cy yc ycenter centery ycentre centrey
    """
)
CORNERS = _table(
    """
    first: topleft lefttop upperleft tl lt p1 point1 corner1 start min hautgauche 左上 左上角
    second: bottomright rightbottom lowerright br rb p2 point2 corner2 end max basdroite 右下 右下角
    """
)
BOX_KEYS = _names(
    "bbox bbox2d box box2d boundingbox boundingbox2d bndbox rect rectangle region xyxy coordinates coordinate "
    "coords coord position location loc boite cadre coordonnees 坐标 位置 边界框 包围盒 矩形 框 坐标框 区域"
)
BOXES_KEYS = _names("boxes bboxes boundingboxes boxes2d bboxes2d boxlist bboxlist 坐标列表")
SIZE_BOX_KEYS = _names("xywh bboxxywh boxxywh")
POLYGON_KEYS = _names(
    "points polygon poly quad quadrilateral quadrangle vertices corners segmentation 顶点 多边形 角点"
)
# The likeliest key first.
LABEL_KEYS = _names(
    "label class category sealtype stamptype type labels classname categoryname labelname objecttype kind cls "
    "类别 标签 印章类型 类型 种类 分类 classe categorie etiquette tag object objet name 名称 nom"
)
# Keys that hold boxes or lists of them without saying what the boxes show.
CONTAINER_KEYS = _names(
    "seals seal stamps stamp chops chop objects object detections detection results "
    "result items item data annotations annotation instances output outputs response answer answers predictions "
    "prediction image images page pages list sceaux sceau cachets cachet tampons tampon objets resultats "
    "印章 章 印章列表 检测结果 结果 对象 目标"
)
# Keys whose numbers are no box.
NOT_BOXES = _names(
    "imagesize imagewidth imageheight size resolution imageresolution shape confidence score count total"
)


def coordinates_of(named: Mapping[str, float]) -> Coordinates | None:
    """The box that numbers named by their role (values of `EDGES`) make; None if they do not make one.

    >>> coordinates_of({"x": 10, "y": 20, "width": 100, "height": 200})
    (10, 20, 110, 220)
    >>> coordinates_of({"cx": 60, "cy": 120, "width": 100, "height": 200})
    (10.0, 20.0, 110.0, 220.0)
    """
    horizontal = _extent(named, "x", "width")
    vertical = _extent(named, "y", "height")
    if horizontal is None or vertical is None:
        return None
    return horizontal[0], vertical[0], horizontal[1], vertical[1]


def _extent(named: Mapping[str, float], axis: str, length: str) -> tuple[float, float] | None:
    if f"{axis}0" in named and f"{axis}1" in named:  # corners numbered from 0
        return named[f"{axis}0"], named[f"{axis}1"]
    first = named.get(f"{axis}1", named.get(axis, named.get(f"{axis}0")))
    if first is not None and f"{axis}2" in named:
        return first, named[f"{axis}2"]
    if length not in named:
        return None
    if first is not None:
        return first, first + named[length]
    centre = named.get(f"c{axis}")
    return None if centre is None else (centre - named[length] / 2, centre + named[length] / 2)
