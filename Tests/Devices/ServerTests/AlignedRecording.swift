import Glibc
import TestSupport

/// A recording of the output of a server, aligned with the expected samples.
struct AlignedRecording {
  /// The frame of the recording at which the expected sound begins.
  let startFrame: Int
  /// The recording from that frame on.
  let samples: ArraySlice<Float>
  private let expected: [Float]

  /// The magnitude above which sound has started.
  private static let soundThreshold: Float = 1e-3

  /// Aligns a recording with the expected samples, at the offset at which the beginnings differ
  /// least.
  init(_ recording: [Float], expecting expected: [Float]) throws {
    guard let firstRecordedFrame = recording.firstIndex(where: { abs($0) > Self.soundThreshold }),
      let firstExpectedFrame = expected.firstIndex(where: { abs($0) > Self.soundThreshold })
    else { throw UnmetRequirement(description: "nothing was heard") }
    let window = firstExpectedFrame..<min(expected.count, firstExpectedFrame + 2_400)
    let estimatedStart = firstRecordedFrame - firstExpectedFrame
    let bestStart = ((estimatedStart - 64)...(estimatedStart + 64)).min {
      firstOffset, secondOffset in
      Self.squaredDistance(recording, expected, window, firstOffset)
        < Self.squaredDistance(recording, expected, window, secondOffset)
    }
    startFrame = bestStart ?? estimatedStart
    self.expected = expected
    samples = startFrame >= 0 ? recording.dropFirst(startFrame).prefix(expected.count) : []
    guard samples.count == expected.count else {
      throw UnmetRequirement(
        description: "\(samples.count) frames were recorded, and \(expected.count) expected")
    }
  }

  private static func squaredDistance(
    _ recording: [Float], _ expected: [Float], _ window: Range<Int>, _ offset: Int
  ) -> Float {
    var sum: Float = 0
    for index in window where recording.indices.contains(index + offset) {
      let difference = recording[index + offset] - expected[index]
      sum += difference * difference
    }
    return sum
  }

  /// The frames in which a recording differs from the expected samples.
  struct Difference: Equatable {
    var firstFrame: Int
    var lastFrame: Int
    var frameCount: Int
    var maximumDistance: Float
  }

  /// Returns the difference of the recording from the expected samples; nil if there is none.
  ///
  /// - Parameter tolerance: The maximum distance of equal samples.
  func difference(above tolerance: Float) -> Difference? {
    var result: Difference?
    for (index, (recordedSample, expectedSample)) in zip(samples, expected).enumerated() {
      let distance = abs(recordedSample - expectedSample)
      guard distance > tolerance else { continue }
      let previous =
        result ?? Difference(firstFrame: index, lastFrame: index, frameCount: 0, maximumDistance: 0)
      result = Difference(
        firstFrame: previous.firstFrame, lastFrame: index, frameCount: previous.frameCount + 1,
        maximumDistance: max(previous.maximumDistance, distance))
    }
    return result
  }

  /// Returns the frames at which sound starts after more than 10 ms of silence.
  static func onsets(_ samples: some Sequence<Float>, rate: Int = 48_000) -> [Int] {
    samples.onsetFrames(above: soundThreshold, afterSilence: rate / 100 + 1)
  }

  /// Finds the last recorded onsets whose intervals equal those of expected onsets, to within a
  /// frame.
  ///
  /// An interruption between two onsets changes their interval, so that the onsets found contain no
  /// interruption.
  static func alignedOnsets(_ recordedOnsets: [Int], in expectedOnsets: [Int], count: Int = 10) -> (
    recordedIndex: Int, expectedIndex: Int
  )? {
    guard recordedOnsets.count >= count, expectedOnsets.count >= count else { return nil }
    for recordedIndex in (0...(recordedOnsets.count - count)).reversed() {
      for expectedIndex in 0...(expectedOnsets.count - count)
      where (0..<count).allSatisfy({ offset in
        let recordedInterval =
          recordedOnsets[recordedIndex + offset] - recordedOnsets[recordedIndex]
        let expectedInterval =
          expectedOnsets[expectedIndex + offset] - expectedOnsets[expectedIndex]
        return abs(recordedInterval - expectedInterval) <= 1
      }) {
        return (recordedIndex, expectedIndex)
      }
    }
    return nil
  }

  /// Returns the level of samples in decibels.
  static func level(_ samples: some Sequence<Float>) -> Double {
    var squareSum = 0.0
    var count = 0
    for sample in samples {
      squareSum += Double(sample) * Double(sample)
      count += 1
    }
    return decibels(squareSum / Double(max(1, count)))
  }

  private static func decibels(_ power: Double) -> Double {
    power > 0 ? 10 * log10(power) : -.infinity
  }
}
