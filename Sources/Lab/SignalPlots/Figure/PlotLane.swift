internal import HapticModel
internal import SignalAnalysis

/// A lane of a figure: the panels for one body location or one channel.
///
/// A figure without body locations has a single lane without a name. A lane has a take for each
/// subject of the figure, in the same order, so that overlays compare equal body locations.
struct PlotLane: Sendable {
  /// The name of the body location or of the channel, or nil for the only lane of a figure.
  let name: String?
  private(set) var takes: [PlotTake]

  /// The name of the lane as the end of a panel's title.
  var titleSuffix: String { name.map { ", \($0)" } ?? "" }

  /// Measures the level and the frequency of all sounds if a take of the lane has no events.
  mutating func measureTracks() {
    guard takes.contains(where: { $0.eventPlot == nil }) else { return }
    for index in takes.indices {
      takes[index].signalTrack = takes[index].signal.map { SignalTrack(of: $0) }
    }
  }

  /// The texts about sounds with different channels that are drawn as their mean.
  var mixedChannelTexts: [String] {
    takes.enumerated().compactMap { index, take in
      guard let signal = take.signal, signal.hasDifferingChannels else { return nil }
      let owner = takes.count == 1 ? "" : "\(PlotPanel.letter(ofTake: index)): "
      return "\(owner)mean of \(signal.channels.count) channels"
    }
  }

  /// Divides the subjects of a figure into lanes.
  ///
  /// - Parameters:
  ///   - subjects: The subjects.
  ///   - takes: The takes of the whole subjects.
  static func lanes(of subjects: [PlotSubject], _ takes: [PlotTake]) throws(PlotError)
    -> [PlotLane]
  {
    let laneSources = subjects.map { LaneSource($0.composition, signal: $0.signal) }
    let figureLanes = FigureLanes(laneSources)
    var plotLanes: [PlotLane] = []
    for (laneIndex, name) in figureLanes.laneNames.enumerated() {
      var laneTakes: [PlotTake] = []
      for (index, subject) in subjects.enumerated() {
        switch figureLanes.shownContent(of: laneSources[index], inLane: laneIndex) {
        case .whole:
          laneTakes.append(takes[index])
        case .part(let position):
          laneTakes.append(
            takes[index].lanePart(
              position, of: laneSources[index], composition: subject.composition))
        case .nothing:
          laneTakes.append(try takes[index].withoutHaptics())
        }
      }
      plotLanes.append(PlotLane(name: name, takes: laneTakes))
    }
    return plotLanes
  }
}
