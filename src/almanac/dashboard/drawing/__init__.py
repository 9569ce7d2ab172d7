"""Drawing: charts as SVG, from points that words are made of too. Colours by class, sizes by attribute, nothing by style."""
