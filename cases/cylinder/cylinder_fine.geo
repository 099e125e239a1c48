// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// cylinder.geo at twice its resolution.
facets = 128;
Include "cylinder.geo";
