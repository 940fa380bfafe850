public import Foundation
internal import SoundFile
internal import Synchronization

/// The audio session of a process, as far as haptic code sets it up: settings are kept and change
/// nothing.
///
/// Engines that are given one play as others do. Any thread may call.
open class AVAudioSession: NSObject, @unchecked Sendable {
  /// What an application does with sound.
  public struct Category: RawRepresentable, Hashable, Sendable {
    /// The name on Apple's systems.
    public let rawValue: String

    /// Makes a category of its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Sound that other applications' sound goes on beside.
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    /// Sound that silences other applications'.
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    /// Recorded sound that is played.
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    /// Recording alone.
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    /// Recording and playing.
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    /// Several outputs.
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }

  /// How a category is used.
  public struct Mode: RawRepresentable, Hashable, Sendable {
    /// The name on Apple's systems.
    public let rawValue: String

    /// Makes a mode of its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No particular use.
    public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
    /// A call.
    public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
    /// A game's chat.
    public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
    /// A measurement of sound.
    public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
    /// Films.
    public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
    /// Speech that goes on.
    public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
  }

  /// What else a category does.
  public struct CategoryOptions: OptionSet, Sendable {
    /// The bits on Apple's systems.
    public let rawValue: UInt

    /// Makes options of their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Other applications' sound goes on.
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// Other applications' sound becomes less loud.
    public static let duckOthers = CategoryOptions(rawValue: 2)
    /// Bluetooth headsets.
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
    /// The loudspeaker.
    public static let defaultToSpeaker = CategoryOptions(rawValue: 8)
    /// Spoken sound of others pauses.
    public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 17)
    /// Bluetooth loudspeakers.
    public static let allowBluetoothA2DP = CategoryOptions(rawValue: 32)
    /// AirPlay.
    public static let allowAirPlay = CategoryOptions(rawValue: 64)
  }

  /// What else an activation does.
  public struct SetActiveOptions: OptionSet, Sendable {
    /// The bits on Apple's systems.
    public let rawValue: UInt

    /// Makes options of their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Others are notified that they may go on.
    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }

  private struct Settings {
    var category = Category.soloAmbient
    var mode = Mode.default
    var options: CategoryOptions = []
    var allowsHapticsDuringRecording = false
  }

  private let lock = NSLock()
  private var settings = Settings()

  private static let shared = AVAudioSession()

  /// The session of the process.
  open class func sharedInstance() -> AVAudioSession { shared }

  /// The category that was set.
  open var category: Category { lock.withLock { settings.category } }

  /// The mode that was set.
  open var mode: Mode { lock.withLock { settings.mode } }

  /// The options that were set.
  open var categoryOptions: CategoryOptions { lock.withLock { settings.options } }

  /// Whether haptics play while sound is recorded, as was set; they always do here.
  open var allowHapticsAndSystemSoundsDuringRecording: Bool {
    lock.withLock { settings.allowsHapticsDuringRecording }
  }

  /// Keeps a category.
  open func setCategory(_ category: Category) throws {
    try setCategory(category, mode: .default, options: [])
  }

  /// Keeps a category and options.
  open func setCategory(_ category: Category, options: CategoryOptions = []) throws {
    try setCategory(category, mode: .default, options: options)
  }

  /// Keeps a category, a mode and options.
  open func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
    lock.withLock {
      settings.category = category
      settings.mode = mode
      settings.options = options
    }
  }

  /// Keeps a mode.
  open func setMode(_ mode: Mode) throws { lock.withLock { settings.mode = mode } }

  /// Keeps whether haptics play while sound is recorded.
  open func setAllowHapticsAndSystemSoundsDuringRecording(_ isAllowed: Bool) throws {
    lock.withLock { settings.allowsHapticsDuringRecording = isAllowed }
  }

  /// Does nothing.
  open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {}

  /// Posted where the session is interrupted; never here.
  public class var interruptionNotification: Notification.Name {
    Notification.Name("AVAudioSessionInterruptionNotification")
  }

  /// Posted where media services were reset; never here.
  public class var mediaServicesWereResetNotification: Notification.Name {
    Notification.Name("AVAudioSessionMediaServicesWereResetNotification")
  }
}

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

/// A player of a sound file that is silent and keeps its time, on the device's clock in a test that
/// has one.
///
/// Any thread may call.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
  private struct State {
    var offset = 0.0
    /// When it was started, on the media clock; nil where it does not play.
    var startTime: Double?
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
  public init(data: Data) throws {
    url = nil
    duration = 0
  }

  /// Returns true.
  @discardableResult open func prepareToPlay() -> Bool { true }

  /// Starts where it was; returns true.
  @discardableResult open func play() -> Bool {
    lock.withLock {
      if seconds(of: state) == nil {
        state.startTime = MediaTime.now
      }
    }
    return true
  }

  /// Stops, and stays where it is.
  open func pause() {
    lock.withLock {
      state.offset = seconds(of: state) ?? state.offset
      state.startTime = nil
    }
  }

  /// Stops, and stays where it is.
  open func stop() { pause() }

  /// Whether it plays.
  open var isPlaying: Bool { lock.withLock { seconds(of: state) != nil } }

  /// Seconds of the sound that have been played; 0 behind its end.
  open var currentTime: TimeInterval {
    get { lock.withLock { seconds(of: state) ?? (state.startTime == nil ? state.offset : 0) } }
    set {
      lock.withLock {
        if state.startTime != nil {
          state.startTime = MediaTime.now
        }
        state.offset = min(
          max(0, newValue.isFinite ? newValue : 0), duration > 0 ? duration : .infinity)
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
    guard let start = state.startTime else { return nil }
    let elapsed = state.offset + max(0, MediaTime.now - start)
    guard duration > 0 else { return elapsed }
    if state.loopCount >= 0, elapsed >= duration * Double(state.loopCount + 1) {
      return nil
    }
    return elapsed.truncatingRemainder(dividingBy: duration)
  }
}

/// The clock of what plays: the virtual device's where one is in place, else the system's.
package enum MediaTime {
  private static let virtualTime = Mutex<@Sendable () -> Double?>({ nil })

  /// Sets where a virtual time comes from; nil of it is real time.
  package static func setVirtualTime(_ virtual: @escaping @Sendable () -> Double?) {
    virtualTime.withLock { $0 = virtual }
  }

  /// Seconds that only go forward.
  package static var now: Double {
    virtualTime.withLock { $0 }() ?? ProcessInfo.processInfo.systemUptime
  }
}
