"""Where rows come from: sources, schemas, importers, errata and the packaged sample."""
