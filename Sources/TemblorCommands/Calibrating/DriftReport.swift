internal import CommandLineKit
import Reading
import SystemSupport
import TransducerCalibration

/// How far a transducer has moved from its profile, as text and as JSON.
struct DriftReport {
  private let drift: CalibrationDrift
  private let profile: String
  private let take: String
  private let warnings: [String]

  /// Takes what is reported.
  init(_ drift: CalibrationDrift, _ calibration: Calibration, profile: String, take: String) {
    self.drift = drift
    self.profile = profile
    self.take = take
    warnings = calibration.warnings
  }

  /// A table from stated to measured, and a verdict.
  var text: String {
    let doubt = NumberFormatting.rounded((drift.resonance.allowed.upperBound - 1) * 100, places: 1)
    let factor = NumberFormatting.rounded(drift.qualityFactor.allowed.upperBound, places: 2)
    let rows = [
      ["", profile, "measured", "change", "profile states"],
      row("resonance", drift.resonance, unit: " Hz", allowed: "±\(doubt) %"),
      row("quality", drift.qualityFactor, unit: "", allowed: "within a factor of \(factor)"),
    ]
    return (ColumnText.lines(rows) + ["", verdict] + warnings).map { $0 + "\n" }.joined()
  }

  /// What the changes mean: one sentence.
  private var verdict: String {
    if drift.isWithin { return "Both are within what the profile states." }
    let moved =
      drift.resonance.isWithin ? "The quality is" : drift.qualityFactor.isWithin ? "The resonance is" : "Both are"
    return moved + " beyond what the profile states; calibrate again without '--quick'."
  }

  /// One object with all figures.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object { entry in
      entry.formatVersion()
      entry.member("recording", take)
      entry.member("profile", profile)
      for (name, figure) in [("resonance", drift.resonance), ("quality", drift.qualityFactor)] {
        entry.object(name, layout: .line) { object in
          object.member("stated", figure.stated)
          object.member("measured", figure.measured)
          object.member("interval", figure.interval)
          object.member("change", figure.change)
          object.member("lowest", figure.allowed.lowerBound)
          object.member("highest", figure.allowed.upperBound)
          object.member("within", figure.isWithin)
        }
      }
      entry.member("within", drift.isWithin)
      entry.array("warnings") { list in for warning in warnings { list.element(warning) } }
    }
    return json.finish()
  }

  private func row(_ name: String, _ figure: CalibrationDrift.Figure, unit: String, allowed: String) -> [String] {
    let interval = NumberFormatting.rounded(figure.interval * 100, places: 2)
    let change = NumberFormatting.rounded(figure.change * 100, places: 1)
    return [
      name, NumberFormatting.rounded(figure.stated, places: 2) + unit,
      "\(NumberFormatting.rounded(figure.measured, places: 2))\(unit) ± \(interval) %",
      (change.hasPrefix("-") ? "" : "+") + change + " %", allowed,
    ]
  }
}
