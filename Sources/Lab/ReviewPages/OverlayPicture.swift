internal import HapticModel
internal import HapticRender
internal import SignalPlots
internal import SystemSupport

/// Two takes on one another, for readers without script: what both have is grey, what only one has
/// is in its colour. The page's style colours it; its script draws the same with more detail.
struct OverlayPicture {
  private let reference: PageTake
  private let candidate: PageTake
  /// By how many seconds the other take is later.
  private let candidateDelay: Double
  private let profile: TransducerProfile
  private let duration: Double

  private static let size = (width: 1_140.0, height: 348.0)
  private static let margin = (left: 58.0, right: 58.0)
  private static let intensityLane = (top: 22.0, bottom: 210.0)
  private static let sharpnessLane = (top: 250.0, bottom: 320.0)
  /// CSS pixels between two places of a curve.
  private static let columnWidth = 4.0

  init(_ one: PageTake, _ other: PageTake, candidateDelay shift: Double, profile: TransducerProfile)
  {
    self.reference = one
    self.candidate = other
    self.candidateDelay = shift
    self.profile = profile
    duration = max(one.soundDuration, other.soundDuration - shift, 0.02)
  }

  var markup: String {
    let (width, height) = Self.size
    let name = "\(reference.name) and \(candidate.name) on one time axis."
    return
      "<svg class=\"plot\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\""
      + "\(name.escapedForMarkup) Every difference is in the list below.\">" + axesMarkup
      + areasMarkup
      + transientsMarkup(of: reference, class: "a", delay: 0)
      + transientsMarkup(of: candidate, class: "b", delay: candidateDelay)
      + "</svg>"
  }

  private func x(atTime seconds: Double) -> Double {
    Self.margin.left + (Self.size.width - Self.margin.left - Self.margin.right) * seconds / duration
  }

  private static func intensityY(_ value: Double) -> Double {
    intensityLane.bottom - value * (intensityLane.bottom - intensityLane.top - 6)
  }

  private static func sharpnessY(_ value: Double) -> Double {
    sharpnessLane.bottom - 3 - value * (sharpnessLane.bottom - sharpnessLane.top - 8)
  }

  private static func number(_ value: Double) -> String {
    NumberFormatting.rounded(value, places: 1)
  }

  private func pathPoint(atTime seconds: Double, y: Double) -> String {
    "\(Self.number(x(atTime: seconds))) \(Self.number(y))"
  }

  private var axesMarkup: String {
    let left = Self.margin.left
    let right = Self.size.width - Self.margin.right
    let isOfPatterns = reference.events != nil && candidate.events != nil
    var markup = ""
    let titles = isOfPatterns ? ["Intensity", "Sharpness"] : ["Level", "Frequency"]
    for (lane, title) in zip([Self.intensityLane, Self.sharpnessLane], titles) {
      markup += "<text class=\"lane\" x=\"\(Int(left))\" y=\"\(Int(lane.top - 7))\">\(title)</text>"
      markup += lineMarkup(class: "axis", x1: left, y1: lane.bottom, x2: right, y2: lane.bottom)
    }
    let hertz = [profile.frequency.low, profile.frequency.high].map {
      NumberFormatting.rounded($0, places: 0) + " Hz"
    }
    let ends =
      isOfPatterns
      ? [("0", "1", "", ""), ("0", "1", hertz[0], hertz[1])]
      : [("−60", "0 dBFS", "", ""), ("", "", "30 Hz", "600 Hz")]
    for (place, texts) in zip([Self.intensityY, Self.sharpnessY], ends) {
      for (value, low, high) in [(0.0, texts.0, texts.2), (1.0, texts.1, texts.3)] {
        let y = Self.number(place(value) + 4)
        markup += "<text x=\"\(Int(left - 8))\" y=\"\(y)\" text-anchor=\"end\">\(low)</text>"
        markup += "<text x=\"\(Int(right + 8))\" y=\"\(y)\">\(high)</text>"
      }
    }
    let ticks = AxisTick.roundTicks(in: 0...duration, atMost: 12)
    for (index, tick) in ticks.enumerated() {
      markup +=
        "<text x=\"\(Self.number(x(atTime: tick.value)))\" y=\"\(Int(Self.sharpnessLane.bottom + 18))\" "
        + "text-anchor=\"middle\">\(tick.label)\(index == ticks.count - 1 ? " s" : "")</text>"
    }
    return markup
  }

  private func lineMarkup(class name: String, x1: Double, y1: Double, x2: Double, y2: Double)
    -> String
  {
    "<line class=\"\(name)\" x1=\"\(Self.number(x1))\" y1=\"\(Self.number(y1))\" "
      + "x2=\"\(Self.number(x2))\" y2=\"\(Self.number(y2))\"/>"
  }

  private var areasMarkup: String {
    let count = Int((Self.size.width - Self.margin.left - Self.margin.right) / Self.columnWidth)
    let times = (0...count).map { Double($0) / Double(count) * duration }
    let first = times.map { reference.intensity(at: $0) }
    let second = times.map { candidate.intensity(at: $0 + candidateDelay) }
    let both = zip(first, second).map(min)
    var markup = areaMarkup(class: "both-area", times: times, values: both, over: nil)
    markup += areaMarkup(class: "a-area", times: times, values: first, over: second)
    markup += areaMarkup(class: "b-area", times: times, values: second, over: first)
    for (name, take, delay) in [("a-line", reference, 0), ("b-line", candidate, candidateDelay)] {
      let tones = times.map { take.sharpness(at: $0 + delay) }
      let lines = tones.indices.runs { tones[$0] != nil }.map { run in
        "M"
          + run.map { pathPoint(atTime: times[$0], y: Self.sharpnessY(tones[$0] ?? 0)) }.joined(
            separator: "L")
      }
      markup += "<path class=\"\(name)\" d=\"\(lines.joined())\"/>"
    }
    return markup
  }

  /// What is above another curve, or above the ground.
  private func areaMarkup(
    class name: String, times: [Double], values: [Double], over others: [Double]?
  )
    -> String
  {
    let runs = values.indices.runs { values[$0] > (others?[$0] ?? 0) + 0.005 }
    let path = runs.filter { $0.count > 1 }.map { run in
      let top = run.map { pathPoint(atTime: times[$0], y: Self.intensityY(values[$0])) }
      let bottom = run.reversed().map {
        pathPoint(atTime: times[$0], y: Self.intensityY(others?[$0] ?? 0))
      }
      return "M" + (top + bottom).joined(separator: "L") + "Z"
    }.joined()
    return path.isEmpty ? "" : "<path class=\"\(name)\" d=\"\(path)\"/>"
  }

  private func transientsMarkup(of take: PageTake, class name: String, delay: Double) -> String {
    let transients = (take.events ?? []).filter { $0.kind.isTransient }.prefix(500)
    return transients.map { event in
      guard let point = event.points.first else { return "" }
      let place = x(atTime: point.time - delay)
      let heights = [Self.intensityY(point.intensity), Self.sharpnessY(point.sharpness)]
      let heads = heights.map {
        """
        <circle class=\"head \(name)\" cx=\"\(Self.number(place))\" cy=\"\(Self.number($0))\" \
        r=\"5\"/>
        """
      }
      return lineMarkup(
        class: "stem \(name)", x1: place, y1: Self.intensityLane.bottom, x2: place, y2: heights[0])
        + heads.joined()
    }.joined()
  }
}
