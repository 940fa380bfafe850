/* Says what to install where a header is missing, before the compiler says that it is. */
#define TEMBLOR_PACKAGES_ARE_MISSING \
  _Pragma("GCC error \"a library is missing; run: sudo apt-get update && sudo apt-get install -y --no-install-recommends libasound2-dev libsndfile1-dev libsamplerate0-dev libebur128-dev libexpat1-dev libkissfft-dev libcairo2\"")
