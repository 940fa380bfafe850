// Random numbers that follow from a seed, as in the program: SplitMix64.

/** The maximum seed: the largest integer that every JSON reader represents exactly. */
const maximumSeed = (1n << 53n) - 1n;

/** Returns a random seed. */
const randomSeed = () => crypto.getRandomValues(new BigUint64Array(1))[0] & maximumSeed;

/** Returns the seed in the URL of the page, such as `?seed=7`, or null. */
function addressSeed() {
  const text = new URLSearchParams(location.search).get("seed");
  const isSeed = text !== null && /^[0-9]{1,16}$/.test(text) && BigInt(text) <= maximumSeed;
  return isSeed ? BigInt(text) : null;
}

/** The numbers of a seed. */
class RandomNumbers {
  /** @param {bigint} seed */
  constructor(seed) { this.state = seed; }

  /** Returns the next number of 64 bits. */
  next() {
    this.state = BigInt.asUintN(64, this.state + 0x9e3779b97f4a7c15n);
    let mixed = this.state;
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }

  /** Returns the highest bit of the next number. */
  bit() { return Number(this.next() >> 63n); }

  /** Returns an integer from 0 to `bound` − 1 without bias (Lemire 2019). */
  below(bound) {
    const wideBound = BigInt(bound);
    let product = this.next() * wideBound;
    const minimum = ((1n << 64n) - wideBound) % wideBound;
    while (BigInt.asUintN(64, product) < minimum) product = this.next() * wideBound;
    return Number(product >> 64n);
  }

  /** Returns elements in a random order (Fisher and Yates). */
  shuffled(elements) {
    const copy = [...elements];
    for (let index = 0; index < copy.length - 1; index++) {
      const other = index + this.below(copy.length - index);
      [copy[index], copy[other]] = [copy[other], copy[index]];
    }
    return copy;
  }
}
