"""One importer per benchmark: a release in its authors' layout to the local data folder."""
