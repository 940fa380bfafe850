import ComparisonFixtures
import HapticFormats
import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing
import VendorFormats

/// A pattern after its conversion to a format and back.
struct ConvertedPattern {
  let composition: HapticComposition
  let format: HapticFormat
  /// The losses of writing and reading.
  let losses: [String]

  /// Converts a pattern, or returns nil if the format cannot be written or refuses the pattern.
  init?(_ composition: HapticComposition, to format: HapticFormat) {
    guard let written = (try? format.write(composition)) ?? nil else { return nil }
    var layers: [HapticComposition.Layer] = []
    var losses = written.losses.map(\.message)
    for file in written.files where file.fileExtension == nil {
      let name = "x" + file.nameSuffix + "." + (format.fileExtensions.first ?? format.id)
      let result = format.examine(SourceFile(file.bytes, name: name))
      guard let fileComposition = try? result.get() else { return nil }
      layers += fileComposition.layers
      losses += result.losses.map(\.message)
    }
    self.composition = HapticComposition(layers: layers)
    self.format = format
    self.losses = losses
  }

  /// The pattern as the program reads and renders it at 8 kHz.
  func take(profile: TransducerProfile = .phone) throws -> Take {
    try formattedTake(composition, in: format, profile: profile)
  }
}

/// Returns a pattern of a format as the program reads and renders it at 8 kHz.
func formattedTake(
  _ composition: HapticComposition, in format: HapticFormat, profile: TransducerProfile = .phone
) throws -> Take {
  var take = try take(composition.linearized(), profile: profile, rate: 8_000)
  take.format = Take.Format(title: format.title, resolution: format.valueResolution)
  return take
}

/// A comparison of two rendered sounds, independent of their patterns.
struct SoundAgreement {
  /// A Boolean value that indicates whether energy and peak agree within 0.3 dB, and no window of
  /// 32 ms within 25 dB of the loudest differs by more than 1 dB or 5 % in frequency.
  let isComplete: Bool

  init(_ take: Take, _ otherTake: Take) {
    let windows = Self.windows(of: take.signal.mono)
    let otherWindows = Self.windows(of: otherTake.signal.mono)
    let peakAmplitudes = [take, otherTake].map { take in
      take.signal.mono.reduce(0) { max($0, abs($1)) }
    }
    let energies = [windows, otherWindows].map { $0.reduce(0) { $0 + $1.energy } }
    guard
      abs(Decibels.of(amplitude: Double(peakAmplitudes[1] / max(peakAmplitudes[0], 1e-9)))) <= 0.3,
      abs(Decibels.of(amplitude: (energies[1] / max(energies[0], 1e-12)).squareRoot())) <= 0.3
    else {
      isComplete = false
      return
    }
    let maximumEnergy = max(
      windows.map(\.energy).max() ?? 0, otherWindows.map(\.energy).max() ?? 0)
    let silence = Window(energy: 0, differenceEnergy: 0)
    isComplete = (0..<max(windows.count, otherWindows.count)).allSatisfy { index in
      let window = windows.indices.contains(index) ? windows[index] : silence
      let otherWindow = otherWindows.indices.contains(index) ? otherWindows[index] : silence
      guard max(window.energy, otherWindow.energy) > maximumEnergy * 0.003_16 else { return true }
      let energyRatio = (otherWindow.energy + 1e-12) / (window.energy + 1e-12)
      let frequencyRatio = otherWindow.frequency / max(window.frequency, 1e-9)
      return abs(Decibels.of(amplitude: energyRatio.squareRoot())) <= 1
        && abs(frequencyRatio - 1) <= 0.05
    }
  }

  /// The energy of a 32 ms window, and of the differences between its samples.
  private struct Window {
    var energy: Double
    var differenceEnergy: Double

    /// The RMS frequency below a quarter of the sample rate, in an arbitrary unit.
    var frequency: Double { (differenceEnergy / max(energy, 1e-15)).squareRoot() }
  }

  private static func windows(of samples: [Float]) -> [Window] {
    let windowLength = 256
    return stride(from: 0, to: max(0, samples.count - 2), by: windowLength / 4).map { start in
      var window = Window(energy: 0, differenceEnergy: 0)
      for index in max(1, start)..<min(samples.count - 1, start + windowLength) {
        let sample = Double(samples[index])
        let difference = Double(samples[index + 1] - samples[index - 1])
        window.energy += sample * sample
        window.differenceEnergy += difference * difference
      }
      return window
    }
  }
}
