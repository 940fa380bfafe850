import Glibc

/// What was recorded behind a server, laid beside what should have been heard.
struct AlignedRecording {
  /// The frame of the recording at which the expected sound begins.
  let startFrame: Int
  /// The recording from there on.
  let samples: ArraySlice<Float>
  private let expected: [Float]

  /// Below this a sound has not begun.
  private static let soundThreshold: Float = 1e-3

  /// Finds the place once: where the recording is most like the beginning of the expected sound.
  init(_ recording: [Float], beside expected: [Float]) throws {
    guard let heard = recording.firstIndex(where: { abs($0) > Self.soundThreshold }),
      let wanted = expected.firstIndex(where: { abs($0) > Self.soundThreshold })
    else { throw UnmetRequirement(description: "nothing was heard") }
    let window = wanted..<min(expected.count, wanted + 2_400)
    let guess = heard - wanted
    let best = ((guess - 64)...(guess + 64)).min { one, other in
      Self.distance(recording, expected, window, one)
        < Self.distance(recording, expected, window, other)
    }
    startFrame = best ?? guess
    self.expected = expected
    samples = startFrame >= 0 ? recording.dropFirst(startFrame).prefix(expected.count) : []
    guard samples.count == expected.count else {
      throw UnmetRequirement(
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

  /// Frames in which the recording is not what was expected: the first, the last, how many, and by
  /// how much.
  struct Difference: Equatable {
    var firstFrame: Int
    var lastFrame: Int
    var frameCount: Int
    var maximumDistance: Float
  }

  /// How the recording differs from what was expected, or nothing.
  ///
  /// - Parameter tolerance: What counts as no difference.
  func difference(above tolerance: Float) -> Difference? {
    var result: Difference?
    for (index, (one, other)) in zip(samples, expected).enumerated() {
      let distance = abs(one - other)
      guard distance > tolerance else { continue }
      let known =
        result ?? Difference(firstFrame: index, lastFrame: index, frameCount: 0, maximumDistance: 0)
      result = Difference(
        firstFrame: known.firstFrame, lastFrame: index, frameCount: known.frameCount + 1,
        maximumDistance: max(known.maximumDistance, distance))
    }
    return result
  }

  /// Frames at which it becomes loud after silence of 10 ms at least.
  static func onsets(_ samples: some Sequence<Float>, rate: Int = 48_000) -> [Int] {
    var onsets: [Int] = []
    var silent = rate
    for (index, sample) in samples.enumerated() {
      if abs(sample) > soundThreshold {
        if silent > rate / 100 {
          onsets.append(index)
        }
        silent = 0
      } else {
        silent += 1
      }
    }
    return onsets
  }

  /// Finds where the last run of heard onsets has the distances of known ones, within a frame.
  ///
  /// An interruption between two onsets changes their distance; within the run there is none.
  static func alignedOnsets(_ heard: [Int], in onsets: [Int], length: Int = 10) -> (
    heard: Int, place: Int
  )? {
    guard heard.count >= length, onsets.count >= length else { return nil }
    for first in (0...(heard.count - length)).reversed() {
      for place in 0...(onsets.count - length)
      where (0..<length).allSatisfy({
        abs((heard[first + $0] - heard[first]) - (onsets[place + $0] - onsets[place])) <= 1
      }) {
        return (first, place)
      }
    }
    return nil
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
