/// The functions of C's mathematics that the core uses, wherever it is built.
#pragma once

#if __has_include(<math.h>)
#include <math.h>
#else
// A system without a C library: whoever links the program provides them.
double atan2(double, double);
double cos(double);
double cosh(double);
double exp(double);
double exp2(double);
double expm1(double);
double floor(double);
double log(double);
double log10(double);
double log2(double);
double pow(double, double);
double sin(double);
double sinh(double);
float exp2f(float);
#endif
