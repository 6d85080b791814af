"""Options: what people may choose, each written down once, with its default, its check and a sentence."""
