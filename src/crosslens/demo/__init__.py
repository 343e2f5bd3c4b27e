"""The whole analysis on a laboratory's languages, from raw text to a page, with nothing downloaded."""
