public import Foundation
internal import SoundFile
internal import Synchronization

/// A position in frames.
public typealias AVAudioFramePosition = Int64

/// What a player reports.
public protocol AVAudioPlayerDelegate: AnyObject {
  /// Never called: what a player's end sets off belongs to a phone.
  func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool)
}

extension AVAudioPlayerDelegate {
  /// Does nothing.
  public func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {}
}

/// A player of a sound file that is silent and keeps its time, on the device's clock in a test that has one.
///
/// Any thread may call.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
  private struct State {
    var offset = 0.0
    /// When it was started, on the media clock; nil where it does not play.
    var start: Double?
    var volume: Float = 1
    var loopCount = 0
  }

  /// Where the sound comes from, or nil for data.
  public let url: URL?
  /// Seconds that the sound lasts, or 0 where the file is of a kind that cannot be read here.
  public let duration: TimeInterval
  /// Who wants reports; kept.
  open weak var delegate: (any AVAudioPlayerDelegate)?
  private let lock = NSLock()
  private var state = State()

  /// Makes a player of a file; throws where the file is not there.
  public init(contentsOf url: URL) throws {
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: url.path])
    }
    self.url = url
    let sound = try? Sound(contentsOf: url.path)
    duration = sound.map { Double($0.frameCount) / $0.rate } ?? 0
  }

  /// Makes a player of data, whose length is not known.
  public init(data: Data) throws { (url, duration) = (nil, 0) }

  /// Returns true.
  @discardableResult open func prepareToPlay() -> Bool { true }

  /// Starts where it was; returns true.
  @discardableResult open func play() -> Bool {
    lock.withLock { if seconds(of: state) == nil { state.start = MediaTime.now } }
    return true
  }

  /// Stops, and stays where it is.
  open func pause() { lock.withLock { (state.offset, state.start) = (seconds(of: state) ?? state.offset, nil) } }

  /// Stops, and stays where it is.
  open func stop() { pause() }

  /// Whether it plays.
  open var isPlaying: Bool { lock.withLock { seconds(of: state) != nil } }

  /// Seconds of the sound that have been played; 0 behind its end.
  open var currentTime: TimeInterval {
    get { lock.withLock { seconds(of: state) ?? (state.start == nil ? state.offset : 0) } }
    set {
      lock.withLock {
        if state.start != nil { state.start = MediaTime.now }
        state.offset = min(max(0, newValue.isFinite ? newValue : 0), duration > 0 ? duration : .infinity)
      }
    }
  }

  /// How loud it is, 0…1; kept.
  open var volume: Float {
    get { lock.withLock { state.volume } }
    set { lock.withLock { state.volume = newValue } }
  }

  /// How many times it is repeated; negative for ever.
  open var numberOfLoops: Int {
    get { lock.withLock { state.loopCount } }
    set { lock.withLock { state.loopCount = newValue } }
  }

  /// Seconds into the sound, or nil where it does not play, or no longer: [lock].
  private func seconds(of state: State) -> Double? {
    guard let start = state.start else { return nil }
    let elapsed = state.offset + max(0, MediaTime.now - start)
    guard duration > 0 else { return elapsed }
    if state.loopCount >= 0, elapsed >= duration * Double(state.loopCount + 1) { return nil }
    return elapsed.truncatingRemainder(dividingBy: duration)
  }
}

/// The clock of what plays: the virtual device's where one is in place, else the system's.
package enum MediaTime {
  private static let source = Mutex<@Sendable () -> Double?>({ nil })

  /// Sets where a virtual time comes from; nil of it is real time.
  package static func follow(_ virtual: @escaping @Sendable () -> Double?) { source.withLock { $0 = virtual } }

  /// Seconds that only go forward.
  package static var now: Double { source.withLock { $0 }() ?? ProcessInfo.processInfo.systemUptime }
}
