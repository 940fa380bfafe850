import HapticModel
import HapticPlayback
import HapticRender
import PatternComparison
import SystemSupport

/// Takes that are heard once each, one after the other, where nobody can choose.
final class SequentialAuditionTask: SessionTask {
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let group: PlayerGroup
  private let parts: [Part]
  private var announcedCount = 0

  /// One take at its time.
  private struct Part {
    let name: String
    /// The engine's frame of its first sample.
    let start: Int64
    /// The frame behind its last.
    let end: Int64
  }

  /// A round of which everything is planned to the frame.
  ///
  /// - Parameters:
  ///   - region: The part of each that is heard, or nothing for each as long as it is.
  ///   - gap: Seconds of silence between two takes.
  init(
    _ pieces: [CompiledPattern], on engine: PlaybackEngine, gains: [Double],
    region: ClosedRange<Double>?, gap: Double, session: LiveSession
  ) throws {
    self.engine = engine
    console = session.console
    group = PlayerGroup(
      try pieces.map { try engine.player(for: $0.plans, duration: $0.duration) }, of: engine)
    var frame = FrameConversion.frame(seconds: Playlist.leadIn, rate: engine.rate)
    var parts: [Part] = []
    try group.loop(end: 2 * FrameConversion.longest)
    for (index, piece) in pieces.enumerated() {
      let heard = region ?? 0...piece.duration
      let length = FrameConversion.frame(
        seconds: heard.upperBound - heard.lowerBound, rate: engine.rate)
      parts.append(Part(name: piece.name, start: frame, end: frame + length))
      try group.setGains(AuditionTask.only(index, of: gains), over: 0, at: .frame(frame))
      try group.start(at: .frame(frame), from: heard.lowerBound)
      try group.pause(at: .frame(frame + length))
      frame += length + FrameConversion.frame(seconds: gap, rate: engine.rate)
    }
    self.parts = parts
  }

  var state: PlaybackStatus.State { current == nil ? .idle : .playing }

  var place: (position: Double, duration: Double?) {
    guard let current else { return (0, nil) }
    return (
      Double(engine.position - current.start) / engine.rate,
      Double(current.end - current.start) / engine.rate
    )
  }

  func perform(at now: Duration) throws -> SessionStep {
    while announcedCount < parts.count, parts[announcedCount].start <= engine.position {
      let part = parts[announcedCount]
      let letter = Take.letter(announcedCount)
      let seconds = Double(part.end - part.start) / engine.rate
      console.tell("\(letter): \(part.name.printable), \(NumberFormatting.seconds(seconds))")
      announcedCount += 1
    }
    let last = parts.last?.end ?? 0
    let end = last + FrameConversion.frame(seconds: OfflineRenderer.defaultTail, rate: engine.rate)
    let next = announcedCount < parts.count ? parts[announcedCount].start : end
    if engine.position >= end { return .over }
    return .wait(.inSeconds(Double(max(1, next - engine.position)) / engine.rate))
  }

  private var current: Part? {
    parts.first { ($0.start..<$0.end).contains(engine.position) }
  }
}
