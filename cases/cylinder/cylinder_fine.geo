// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// cylinder.geo at twice its resolution.
facets = 256;
Include "cylinder.geo";
