"""Where does cross-lingual transfer live in a multilingual encoder?"""

__version__ = "0.1.0"
