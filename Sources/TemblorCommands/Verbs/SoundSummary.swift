import Reading
import PatternWorkflows
import SignalAnalysis
import SoundFile
import SystemSupport

/// What there is to say about one sound file.
struct SoundSummary {
  /// The edges of the bands that energy is listed for, in hertz; the last band has no end.
  private static let bandEdges = [0.0, 20, 80, 250, 1_000]
  /// Onsets that are listed by their times; of more, only their number.
  private static let mostTimes = 8

  private let name: String
  private let measurement: SoundMeasurement
  private let weighting: VibrotactileWeighting
  private let felt: [WeightedEnergy]
  private let spectrum: Spectrum?

  init(_ path: String, weighting: VibrotactileWeighting, progress: (Double) -> Void = { _ in }) throws {
    name = path
    self.weighting = weighting
    measurement = try SoundMeasurement(path, progress: progress)
    felt = measurement.spectra.map { WeightedEnergy(of: $0, weighting: weighting) }
    spectrum = Spectrum(averaging: measurement.spectra)
  }

  var complaints: [String] {
    var complaints: [String] = []
    if let truncation = measurement.truncation { complaints.append(truncation.text) }
    let count = measurement.whole.nonFiniteCount
    let all = measurement.frameCount * measurement.channels.count
    if count > 0 {
      complaints.append(
        "\(count == all ? "all" : "\(count) of") \(all) samples are NaN or infinite; they are treated as silence")
    }
    return complaints.map { "\(name.printable): \($0)" }
  }

  private var duration: Double { Double(measurement.frameCount) / measurement.rate }

  private var wholeFelt: WeightedEnergy? { spectrum.map { WeightedEnergy(of: $0, weighting: weighting) } }

  var text: String {
    let count = measurement.channels.count
    var lines = [
      name.printable,
      "  length     \(NumberFormatting.seconds(duration)), \(measurement.frameCount) frames at "
        + "\(NumberFormatting.rounded(measurement.rate, places: 3)) Hz",
      "  contents   \(count) channel\(count == 1 ? "" : "s"), \(measurement.encoding) in " + measurement.container,
      "  level      \(level(measurement.whole))",
    ]
    if measurement.whole.samplePeak > 0 {
      lines.append(
        "  loudness   "
          + (measurement.whole.integratedLoudness.map { "\(NumberFormatting.rounded($0, places: 1)) LUFS" }
            ?? "below -70 LUFS"))
    }
    if measurement.whole.rms > 0, let wholeFelt {
      lines.append("  weighted   \(decibels(wholeFelt.decibels)) dB for a \(weighting.bodyPart)")
      lines.append("  spectrum   \(bands)")
    }
    if let onsets = measurement.onsets { lines.append("  onsets     \(text(of: onsets))") }
    if count > 1 {
      for (index, levels) in measurement.channels.enumerated() {
        lines.append(
          "  channel \(index + 1)".padding(to: 13) + level(levels)
            + (levels.rms > 0 ? ", felt \(decibels(felt[index].decibels)) dB" : ""))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func level(_ levels: Levels) -> String {
    guard levels.samplePeak > 0 else { return "silent" }
    return "peak \(decibels(levels.samplePeakDecibels)) dBFS, "
      + "true peak \(decibels(levels.truePeakDecibels)) dBTP, " + "RMS \(decibels(levels.rmsDecibels)) dBFS, "
      + "crest \(decibels(levels.crestDecibels ?? 0)) dB, DC \(NumberFormatting.rounded(levels.dc, places: 5))"
  }

  private func decibels(_ value: Double) -> String { NumberFormatting.rounded(value, places: 1) }

  private var bands: String {
    guard let spectrum, spectrum.power > 0 else { return "silent" }
    guard let centroid = spectrum.centroid else { return "an offset alone" }
    let power = spectrum.power
    let shares = Self.bandEdges.indices.compactMap { index -> String? in
      let share = (bandPower(index) / power * 100).rounded()
      guard share >= 1 else { return nil }
      let low = NumberFormatting.rounded(Self.bandEdges[index], places: 0)
      guard index + 1 < Self.bandEdges.count else { return "\(Int(share)) % above \(low) Hz" }
      let high = NumberFormatting.rounded(Self.bandEdges[index + 1], places: 0)
      return "\(Int(share)) % in \(low) to \(high) Hz"
    }
    return "centred at \(NumberFormatting.rounded(centroid, places: 1)) Hz; " + shares.joined(separator: ", ")
  }

  private func bandPower(_ index: Int) -> Double {
    let edges = Self.bandEdges + [max(Self.bandEdges[Self.bandEdges.count - 1], measurement.rate)]
    return spectrum?.power(in: edges[index]...edges[index + 1]) ?? 0
  }

  private func text(of onsets: [Onset]) -> String {
    if onsets.isEmpty { return "none" }
    let times = onsets.prefix(Self.mostTimes).map { NumberFormatting.rounded($0.time, places: 3) }
    return "\(onsets.count), at \(times.joined(separator: ", "))" + (onsets.count > Self.mostTimes ? " … s" : " s")
  }

  var fields: JSONFields {
    let bands = Self.bandEdges.indices.map { index -> JSONFields in
      [
        "fromHertz": Self.bandEdges[index],
        "toHertz": index + 1 < Self.bandEdges.count ? Self.bandEdges[index + 1] : nil,
        "decibels": Decibels.of(power: bandPower(index)),
      ]
    }
    let onsets = measurement.onsets?.map { ["time": $0.time, "strength": $0.strength] as JSONFields }
    return [
      "sound": name, "duration": duration, "frames": measurement.frameCount, "rate": measurement.rate,
      "container": measurement.container, "encoding": measurement.encoding,
    ] + fields(of: measurement.whole, felt: wholeFelt) + [
      "loudness": measurement.whole.integratedLoudness?.json ?? JSONPiece.null, "weighting": weighting.name,
      "centroidHertz": spectrum?.centroid?.json ?? JSONPiece.null, "bands": bands, "onsets": onsets,
      "channels": zip(measurement.channels, felt).map { fields(of: $0, felt: $1) },
    ]
  }

  private func fields(of levels: Levels, felt: WeightedEnergy?) -> JSONFields {
    [
      "peakDecibels": levels.samplePeakDecibels, "truePeakDecibels": levels.truePeakDecibels,
      "rmsDecibels": levels.rmsDecibels, "crestDecibels": levels.crestDecibels?.json ?? JSONPiece.null, "dc": levels.dc,
      "weightedDecibels": felt?.decibels ?? Decibels.silence, "nonFiniteSamples": levels.nonFiniteCount,
    ]
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
