public import Foundation
internal import SoundFile
internal import Synchronization

/// The audio session of a process. Settings are stored and have no effect.
///
/// Engines with a session play like other engines. Any thread may call.
open class AVAudioSession: NSObject, @unchecked Sendable {
  /// The use of audio by an application.
  public struct Category: RawRepresentable, Hashable, Sendable {
    /// The name on Apple's systems.
    public let rawValue: String

    /// Creates a category from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Playback that mixes with other applications.
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    /// Playback that silences other applications.
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    /// Playback of recorded audio.
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    /// Recording without playback.
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    /// Recording and playback.
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    /// Several output routes.
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }

  /// The specialized use of a category.
  public struct Mode: RawRepresentable, Hashable, Sendable {
    /// The name on Apple's systems.
    public let rawValue: String

    /// Creates a mode from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No specialized use.
    public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
    /// A voice call.
    public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
    /// A voice chat in a game.
    public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
    /// An audio measurement.
    public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
    /// Movie playback.
    public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
    /// Continuous speech.
    public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
  }

  /// The options of a category.
  public struct CategoryOptions: OptionSet, Sendable {
    /// The bits on Apple's systems.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Mixes with other applications.
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// Lowers the volume of other applications.
    public static let duckOthers = CategoryOptions(rawValue: 2)
    /// Bluetooth headsets.
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
    /// The loudspeaker.
    public static let defaultToSpeaker = CategoryOptions(rawValue: 8)
    /// Pauses spoken audio of other applications.
    public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 17)
    /// Bluetooth loudspeakers.
    public static let allowBluetoothA2DP = CategoryOptions(rawValue: 32)
    /// AirPlay.
    public static let allowAirPlay = CategoryOptions(rawValue: 64)
  }

  /// The options of an activation.
  public struct SetActiveOptions: OptionSet, Sendable {
    /// The bits on Apple's systems.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Notifies other applications that they may resume.
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

  /// The audio category that was set last.
  open var category: Category { lock.withLock { settings.category } }

  /// The audio mode that was set last.
  open var mode: Mode { lock.withLock { settings.mode } }

  /// The category options that were set last.
  open var categoryOptions: CategoryOptions { lock.withLock { settings.options } }

  /// A Boolean value that indicates whether haptics play while audio is recorded. It has no effect:
  /// they always do.
  open var allowHapticsAndSystemSoundsDuringRecording: Bool {
    lock.withLock { settings.allowsHapticsDuringRecording }
  }

  /// Stores a category.
  open func setCategory(_ category: Category) throws {
    try setCategory(category, mode: .default, options: [])
  }

  /// Stores a category and its options.
  open func setCategory(_ category: Category, options: CategoryOptions = []) throws {
    try setCategory(category, mode: .default, options: options)
  }

  /// Stores a category, its mode, and its options.
  open func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
    lock.withLock {
      settings.category = category
      settings.mode = mode
      settings.options = options
    }
  }

  /// Stores a mode.
  open func setMode(_ mode: Mode) throws { lock.withLock { settings.mode = mode } }

  /// Stores whether haptics play while audio is recorded.
  open func setAllowHapticsAndSystemSoundsDuringRecording(_ isAllowed: Bool) throws {
    lock.withLock { settings.allowsHapticsDuringRecording = isAllowed }
  }

  /// Has no effect.
  open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {}

  /// Posted when the session is interrupted; never on Linux.
  public class var interruptionNotification: Notification.Name {
    Notification.Name("AVAudioSessionInterruptionNotification")
  }

  /// Posted when media services were reset; never on Linux.
  public class var mediaServicesWereResetNotification: Notification.Name {
    Notification.Name("AVAudioSessionMediaServicesWereResetNotification")
  }
}

/// A position in frames.
public typealias AVAudioFramePosition = Int64

/// The delegate of a player.
public protocol AVAudioPlayerDelegate: AnyObject {
  /// Called at the end of a sound; never on Linux, because its effects belong to a phone.
  func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool)
}

extension AVAudioPlayerDelegate {
  /// Has no effect.
  public func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {}
}

/// A silent player of a sound file that keeps its time, on the device's clock in a test with a
/// virtual device.
///
/// Any thread may call.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
  private struct State {
    var offset = 0.0
    /// The start on the media clock, in seconds, or nil while the player is stopped.
    var startTime: Double?
    var volume: Float = 1
    var loopCount = 0
  }

  /// The URL of the sound, or nil for data.
  public let url: URL?
  /// The duration of the sound in seconds, or 0 if the file cannot be read here.
  public let duration: TimeInterval
  /// The delegate, which is never called.
  open weak var delegate: (any AVAudioPlayerDelegate)?
  private let lock = NSLock()
  private var state = State()

  /// Creates a player of a file. Throws an error if the file does not exist.
  public init(contentsOf url: URL) throws {
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: url.path])
    }
    self.url = url
    let sound = try? Sound(contentsOf: url.path)
    duration = sound.map { Double($0.frameCount) / $0.rate } ?? 0
  }

  /// Creates a player of data with an unknown duration.
  public init(data: Data) throws {
    url = nil
    duration = 0
  }

  /// Returns true; preparation is not needed.
  @discardableResult open func prepareToPlay() -> Bool { true }

  /// Starts at the current position. Always succeeds.
  @discardableResult open func play() -> Bool {
    lock.withLock {
      if seconds(of: state) == nil {
        state.startTime = MediaTime.now
      }
    }
    return true
  }

  /// Stops at the current position.
  open func pause() {
    lock.withLock {
      state.offset = seconds(of: state) ?? state.offset
      state.startTime = nil
    }
  }

  /// Stops at the current position.
  open func stop() { pause() }

  /// A Boolean value that indicates whether the player is playing.
  open var isPlaying: Bool { lock.withLock { seconds(of: state) != nil } }

  /// The position in seconds; 0 after the end.
  open var currentTime: TimeInterval {
    get { lock.withLock { seconds(of: state) ?? (state.startTime == nil ? state.offset : 0) } }
    set {
      lock.withLock {
        if state.startTime != nil {
          state.startTime = MediaTime.now
        }
        let end = duration > 0 ? duration : .infinity
        state.offset = min(max(0, newValue.isFinite ? newValue : 0), end)
      }
    }
  }

  /// The volume, 0…1, which has no effect.
  open var volume: Float {
    get { lock.withLock { state.volume } }
    set { lock.withLock { state.volume = newValue } }
  }

  /// The number of repetitions; negative to repeat forever.
  open var numberOfLoops: Int {
    get { lock.withLock { state.loopCount } }
    set { lock.withLock { state.loopCount = newValue } }
  }

  /// Returns the position in seconds, or nil if the player is stopped or has ended: [lock].
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

/// The clock of audio: that of the virtual device, or the system clock.
package enum MediaTime {
  private static let virtualTime = Mutex<@Sendable () -> Double?>({ nil })

  /// Sets the source of virtual time; nil from the source is real time.
  package static func setVirtualTime(_ virtual: @escaping @Sendable () -> Double?) {
    virtualTime.withLock { $0 = virtual }
  }

  /// The time on a monotonic clock, in seconds.
  package static var now: Double {
    virtualTime.withLock { $0 }() ?? ProcessInfo.processInfo.systemUptime
  }
}
