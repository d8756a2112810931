"""The site: a static folder with a playground, which runs Python in the page."""
