internal import HapticModel
internal import HapticRender
internal import SignalPlots
internal import SystemSupport

/// A figure that overlays two takes, for browsers without scripts.
///
/// The part that both takes have in common is gray, and the excess of each take has the take's
/// color.
///
/// The style sheet of the page defines the colors. The script of the page draws a more detailed
/// version.
struct OverlayPicture {
  private let reference: PageTake
  private let candidate: PageTake
  /// The delay of the candidate that the figure compensates, in seconds.
  private let candidateDelaySeconds: Double
  private let profile: TransducerProfile
  /// The name of the body location or channel, or nil for all.
  private let laneName: String?
  /// The length of the time axis, in seconds.
  private let axisDurationSeconds: Double

  private static let pictureSize = (width: 1_140.0, height: 348.0)
  private static let plotMargin = (left: 58.0, right: 58.0)
  private static let intensityLane = (top: 22.0, bottom: 210.0)
  private static let sharpnessLane = (top: 250.0, bottom: 320.0)
  /// The horizontal distance between the points of a curve, in CSS pixels.
  private static let columnWidthPixels = 4.0

  /// Creates a figure.
  ///
  /// - Parameters:
  ///   - reference: The first take.
  ///   - candidate: The second take.
  ///   - candidateDelay: The delay of the second take for which the figure compensates, in seconds.
  ///   - profile: The profile whose frequencies label the sharpness axis.
  ///   - laneName: The name of the body location or channel, or nil for all.
  private init(
    _ reference: PageTake, _ candidate: PageTake, candidateDelay: Double,
    profile: TransducerProfile, laneName: String?
  ) {
    self.reference = reference
    self.candidate = candidate
    self.candidateDelaySeconds = candidateDelay
    self.profile = profile
    self.laneName = laneName
    axisDurationSeconds = max(
      reference.soundDurationSeconds, candidate.soundDurationSeconds - candidateDelay, 0.02)
  }

  /// Returns the figures of two takes, for each differing body location or channel.
  ///
  /// - Parameters:
  ///   - reference: The first take.
  ///   - candidate: The second take.
  ///   - candidateDelay: The delay of the second take for which the figure compensates, in seconds.
  ///   - profile: The profile whose frequencies label the sharpness axis.
  static func pictures(
    _ reference: PageTake, _ candidate: PageTake, candidateDelay: Double,
    profile: TransducerProfile
  ) -> [OverlayPicture] {
    let laneSources = [reference.laneSource, candidate.laneSource]
    let figureLanes = FigureLanes(laneSources)
    return figureLanes.laneNames.enumerated().map { lane, name in
      OverlayPicture(
        reference.lanePart(showing: figureLanes.shownContent(of: laneSources[0], inLane: lane)),
        candidate.lanePart(showing: figureLanes.shownContent(of: laneSources[1], inLane: lane)),
        candidateDelay: candidateDelay, profile: profile, laneName: name)
    }
  }

  /// The figure as SVG markup.
  var svgMarkup: String {
    let (width, height) = Self.pictureSize
    let laneNameClause = laneName.map { ", \($0)," } ?? ""
    let accessibleName =
      "\(reference.name) and \(candidate.name)\(laneNameClause) on a common time axis."
    return
      "<svg class=\"plot\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\""
      + "\(accessibleName.escapedForMarkup) The list below contains every difference.\">"
      + axesMarkup
      + areasMarkup
      + transientsMarkup(of: reference, class: "a", delay: 0)
      + transientsMarkup(of: candidate, class: "b", delay: candidateDelaySeconds)
      + "</svg>"
  }

  private func x(atTime seconds: Double) -> Double {
    Self.plotMargin.left + (Self.pictureSize.width - Self.plotMargin.left - Self.plotMargin.right)
      * seconds / axisDurationSeconds
  }

  private static func intensityY(_ value: Double) -> Double {
    intensityLane.bottom - value * (intensityLane.bottom - intensityLane.top - 6)
  }

  private static func sharpnessY(_ value: Double) -> Double {
    sharpnessLane.bottom - 3 - value * (sharpnessLane.bottom - sharpnessLane.top - 8)
  }

  private static func svgNumber(_ value: Double) -> String {
    NumberFormatting.roundedText(value, places: 1)
  }

  private func pathPoint(atTime seconds: Double, y: Double) -> String {
    "\(Self.svgNumber(x(atTime: seconds))) \(Self.svgNumber(y))"
  }

  /// The SVG markup of the titles, axes and labels of both lanes, and of the time axis labels.
  private var axesMarkup: String {
    let plotLeft = Self.plotMargin.left
    let plotRight = Self.pictureSize.width - Self.plotMargin.right
    let haveEvents = reference.events != nil && candidate.events != nil
    var axisMarkup = ""
    let laneNameSuffix = laneName.map { ", \($0)".escapedForMarkup } ?? ""
    let quantityTitles = haveEvents ? ["Intensity", "Sharpness"] : ["Level", "Frequency"]
    for (lane, quantity) in zip([Self.intensityLane, Self.sharpnessLane], quantityTitles) {
      let title = quantity + laneNameSuffix
      axisMarkup +=
        "<text class=\"lane\" x=\"\(Int(plotLeft))\" y=\"\(Int(lane.top - 7))\">\(title)</text>"
      axisMarkup += lineMarkup(
        class: "axis", x1: plotLeft, y1: lane.bottom, x2: plotRight, y2: lane.bottom)
    }
    let bandLimitTexts = [profile.frequency.lowHertz, profile.frequency.highHertz].map {
      NumberFormatting.roundedText($0, places: 0) + " Hz"
    }
    // The left and right labels of the values 0 and 1 in each lane.
    let intensityLabels = haveEvents ? [("0", ""), ("1", "")] : [("−60", ""), ("0 dBFS", "")]
    let sharpnessLabels =
      haveEvents
      ? [("0", bandLimitTexts[0]), ("1", bandLimitTexts[1])] : [("", "30 Hz"), ("", "600 Hz")]
    let labeledLanes = [(Self.intensityY, intensityLabels), (Self.sharpnessY, sharpnessLabels)]
    for (laneY, labels) in labeledLanes {
      for (value, (leftLabel, rightLabel)) in zip([0.0, 1.0], labels) {
        let y = Self.svgNumber(laneY(value) + 4)
        axisMarkup +=
          "<text x=\"\(Int(plotLeft - 8))\" y=\"\(y)\" text-anchor=\"end\">\(leftLabel)</text>"
        axisMarkup += "<text x=\"\(Int(plotRight + 8))\" y=\"\(y)\">\(rightLabel)</text>"
      }
    }
    let timeTicks = AxisTick.roundTicks(in: 0...axisDurationSeconds, atMost: 12)
    for (index, tick) in timeTicks.enumerated() {
      let x = Self.svgNumber(x(atTime: tick.axisValue))
      let y = Int(Self.sharpnessLane.bottom + 18)
      let unit = index == timeTicks.count - 1 ? " s" : ""
      axisMarkup +=
        "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"middle\">\(tick.labelText)\(unit)</text>"
    }
    return axisMarkup
  }

  private func lineMarkup(
    class name: String, x1: Double, y1: Double, x2: Double, y2: Double
  ) -> String {
    "<line class=\"\(name)\" x1=\"\(Self.svgNumber(x1))\" y1=\"\(Self.svgNumber(y1))\" "
      + "x2=\"\(Self.svgNumber(x2))\" y2=\"\(Self.svgNumber(y2))\"/>"
  }

  /// The SVG markup of the intensity areas and the sharpness lines.
  private var areasMarkup: String {
    let columnCount = Int(
      (Self.pictureSize.width - Self.plotMargin.left - Self.plotMargin.right)
        / Self.columnWidthPixels)
    let columnTimesSeconds = (0...columnCount).map {
      Double($0) / Double(columnCount) * axisDurationSeconds
    }
    let referenceIntensities = columnTimesSeconds.map { reference.intensity(atSeconds: $0) }
    let candidateIntensities = columnTimesSeconds.map {
      candidate.intensity(atSeconds: $0 + candidateDelaySeconds)
    }
    let sharedIntensities = zip(referenceIntensities, candidateIntensities).map(min)
    var areaMarkups = areaMarkup(
      class: "both-area", times: columnTimesSeconds, values: sharedIntensities, over: nil)
    areaMarkups += areaMarkup(
      class: "a-area", times: columnTimesSeconds, values: referenceIntensities,
      over: candidateIntensities)
    areaMarkups += areaMarkup(
      class: "b-area", times: columnTimesSeconds, values: candidateIntensities,
      over: referenceIntensities)
    for (name, take, delay) in [
      ("a-line", reference, 0), ("b-line", candidate, candidateDelaySeconds),
    ] {
      let sharpnesses = columnTimesSeconds.map { take.sharpness(atSeconds: $0 + delay) }
      let lines = sharpnesses.indices.runs { sharpnesses[$0] != nil }.map { run in
        let points = run.map { index in
          pathPoint(atTime: columnTimesSeconds[index], y: Self.sharpnessY(sharpnesses[index] ?? 0))
        }
        return "M" + points.joined(separator: "L")
      }
      areaMarkups += "<path class=\"\(name)\" d=\"\(lines.joined())\"/>"
    }
    return areaMarkups
  }

  /// Returns the SVG markup of the area between two curves.
  ///
  /// The area extends to the baseline if the lower curve is nil.
  private func areaMarkup(
    class name: String, times: [Double], values: [Double], over lowerValues: [Double]?
  ) -> String {
    let filledRuns = values.indices.runs { values[$0] > (lowerValues?[$0] ?? 0) + 0.005 }
    let areaPaths = filledRuns.filter { $0.count > 1 }.map { run in
      let top = run.map { pathPoint(atTime: times[$0], y: Self.intensityY(values[$0])) }
      let bottom = run.reversed().map {
        pathPoint(atTime: times[$0], y: Self.intensityY(lowerValues?[$0] ?? 0))
      }
      return "M" + (top + bottom).joined(separator: "L") + "Z"
    }
    return areaPaths.isEmpty ? "" : "<path class=\"\(name)\" d=\"\(areaPaths.joined())\"/>"
  }

  /// Returns the SVG markup of the stems and heads of a take's first 500 transients.
  private func transientsMarkup(of take: PageTake, class name: String, delay: Double) -> String {
    let transients = (take.events ?? []).filter { $0.kind.isTransient }.prefix(500)
    let transientMarkups = transients.map { event in
      guard let point = event.playedPoints.first else { return "" }
      let x = x(atTime: point.timeSeconds - delay)
      let headYs = [Self.intensityY(point.intensity), Self.sharpnessY(point.sharpness)]
      let heads = headYs.map { y in
        """
        <circle class="head \(name)" cx="\(Self.svgNumber(x))" cy="\(Self.svgNumber(y))" r="5"/>
        """
      }
      let stem = lineMarkup(
        class: "stem \(name)", x1: x, y1: Self.intensityLane.bottom, x2: x, y2: headYs[0])
      return stem + heads.joined()
    }
    return transientMarkups.joined()
  }
}
