// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// cylinder.geo at half its resolution.
facets = 32;
Include "cylinder.geo";
