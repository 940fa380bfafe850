import HapticFormats
import HapticModel
import HapticPlayback
import HapticRender
import TransducerProfiles

@testable import CommandServer
@testable import TemblorCommands

/// A command session on an engine in virtual time.
final class ListenFixture {
  let engine: PlaybackEngine
  let playback: VirtualPlayback
  let session: CommandSession

  init(
    periodSize: Int = 64, rate: Double = 48_000, array: TransducerArray? = nil,
    folder: String? = nil, reading: ReadingOptions = ReadingOptions()
  ) {
    let channels = array?.transducers.indices.map { OutputRouting.Channel(hapticBus: $0) }
    engine = PlaybackEngine(
      rate: rate, routing: channels.map(OutputRouting.init) ?? OutputRouting())
    playback = VirtualPlayback(engine, periodSize: periodSize)
    session = CommandSession(
      engine, device: "virtual", array: array, reading: reading, folder: folder,
      message: ErrorReporting.messageText(_:))
  }

  /// Returns the reply to a line.
  @discardableResult func ask(_ line: String, client: Int = 0) -> String {
    guard let request = CommandGrammar.parseRequest(line) else { return "" }
    return session.reply(to: request, clientID: client).line
  }

  /// Restores a state, and returns the commands that failed, with their reasons.
  func restore(_ state: String) -> [String] {
    var problems: [String] = []
    var restoration = StateRestoration(state) { problems.append($0) }
    for _ in 0..<1_000 where !restoration.isFinished {
      restoration.advance(on: session, at: playback.time.now, period: .zero)
      playback.advance(seconds: 0.01)
    }
    return problems
  }

  /// Advances the time, and returns the events of the session since the last call.
  @discardableResult func run(_ seconds: Double) -> [String] {
    playback.advance(seconds: seconds)
    return session.drainEvents().map(\.line)
  }

  /// Records an event of the device at the current time.
  func recordSinkEvent(_ event: SinkEvent) { session.recordSinkEvent(event, at: playback.time.now) }

  /// Returns the first sound with a name.
  func serverSound(_ name: String) -> ServerSound? { session.sounds.first { $0.name == name } }

  /// Returns the frame at which the first sound with a name started.
  func startFrame(_ name: String) -> Int64? { serverSound(name)?.player.startFrame }

  /// Returns the maximum magnitude of the rendered samples between two times.
  func peakLevel(_ range: ClosedRange<Double>) -> Float {
    let frames = Int(range.lowerBound * 48_000)..<Int(range.upperBound * 48_000)
    return playback.samples()[frames].map(abs).max() ?? 0
  }
}
