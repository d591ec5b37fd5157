
Package: r-cran-tamis
Architecture: any
Section: gnu-r
Depends: ${misc:Depends}, ${shlibs:Depends}, ${R:Depends}, libtamis0 (= ${binary:Version}), r-cran-survey
Description: differential privacy for sample surveys - R
 The R package of tamis: releases from the design objects of the package
 survey, and results with its generics.
