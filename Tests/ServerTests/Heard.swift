import Glibc

/// What was recorded behind a server, laid beside what should have been heard.
struct Heard {
  /// The frame of the recording at which the expected sound begins.
  let offset: Int
  /// The recording from there on.
  let samples: ArraySlice<Float>
  private let expected: [Float]

  /// Below this a sound has not begun.
  private static let threshold: Float = 1e-3

  /// Finds the place once: where the recording is most like the beginning of the expected sound.
  init(_ recording: [Float], beside expected: [Float]) throws {
    guard let heard = recording.firstIndex(where: { abs($0) > Self.threshold }),
      let wanted = expected.firstIndex(where: { abs($0) > Self.threshold })
    else { throw Refused(description: "nothing was heard") }
    let window = wanted..<min(expected.count, wanted + 2_400)
    let guess = heard - wanted
    let best = ((guess - 64)...(guess + 64)).min { one, other in
      Self.distance(recording, expected, window, one)
        < Self.distance(recording, expected, window, other)
    }
    offset = best ?? guess
    self.expected = expected
    samples = offset >= 0 ? recording.dropFirst(offset).prefix(expected.count) : []
    guard samples.count == expected.count else {
      throw Refused(
        description: "\(samples.count) frames were recorded, and \(expected.count) expected")
    }
  }

  private static func distance(
    _ one: [Float], _ other: [Float], _ window: Range<Int>, _ offset: Int
  ) -> Float {
    var sum: Float = 0
    for index in window where one.indices.contains(index + offset) {
      let difference = one[index + offset] - other[index]
      sum += difference * difference
    }
    return sum
  }

  /// Where the two differ most, and the first frame at which they do at all.
  struct Difference: Equatable {
    var greatest: Float
    var first: Int?
    var count: Int
  }

  /// How the recording differs from what was expected.
  ///
  /// - Parameter tolerance: What is no difference.
  func difference(above tolerance: Float) -> Difference {
    var result = Difference(greatest: 0, first: nil, count: 0)
    for (index, (one, other)) in zip(samples, expected).enumerated() {
      let distance = abs(one - other)
      result.greatest = max(result.greatest, distance)
      if distance > tolerance {
        result.count += 1
        result.first = result.first ?? index
      }
    }
    return result
  }

  /// Frames at which it becomes loud after silence of 10 ms at least.
  static func onsets(_ samples: some Sequence<Float>, rate: Int = 48_000) -> [Int] {
    var onsets: [Int] = []
    var silent = rate
    for (index, sample) in samples.enumerated() {
      if abs(sample) > threshold {
        if silent > rate / 100 { onsets.append(index) }
        silent = 0
      } else {
        silent += 1
      }
    }
    return onsets
  }

  /// The level of a part of a signal in decibels.
  static func level(_ samples: some Sequence<Float>) -> Double {
    var sum = 0.0
    var count = 0
    for sample in samples {
      sum += Double(sample) * Double(sample)
      count += 1
    }
    return decibels(sum / Double(max(1, count)))
  }

  private static func decibels(_ power: Double) -> Double {
    power > 0 ? 10 * log10(power) : -.infinity
  }
}
