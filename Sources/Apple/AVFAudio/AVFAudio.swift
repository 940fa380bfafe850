public import Foundation
internal import SoundFile
internal import Synchronization

/// The audio session of a process. Settings are stored but have no effect.
///
/// Engines with a session play like other engines. Any thread may call.
open class AVAudioSession: NSObject, @unchecked Sendable {
  /// A category of audio use by an application, such as playback or recording.
  public struct Category: RawRepresentable, Hashable, Sendable {
    /// The name of the category on Apple's systems.
    public let rawValue: String

    /// Creates a category from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The category for playback that is mixed with the audio of other applications.
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    /// The category for playback that silences other applications.
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    /// The category for playback that is central to the application, such as music.
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    /// The category for recording without playback.
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    /// The category for simultaneous recording and playback.
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    /// The category for audio that uses several output routes.
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }

  /// A mode: a specialized use of an audio category.
  public struct Mode: RawRepresentable, Hashable, Sendable {
    /// The name of the mode on Apple's systems.
    public let rawValue: String

    /// Creates a mode from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The default mode, without a specialized use.
    public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
    /// The mode for a voice call.
    public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
    /// The mode for a voice chat in a game.
    public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
    /// The mode for audio measurements.
    public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
    /// The mode for movie playback.
    public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
    /// The mode for continuous speech, such as an audiobook.
    public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
  }

  /// The options of an audio category.
  public struct CategoryOptions: OptionSet, Sendable {
    /// The raw bits of the options, as on Apple's systems.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The option to mix with other applications.
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// The option to lower the volume of other applications.
    public static let duckOthers = CategoryOptions(rawValue: 2)
    /// The option to allow the use of Bluetooth headsets.
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
    /// The option to use the loudspeaker by default.
    public static let defaultToSpeaker = CategoryOptions(rawValue: 8)
    /// The option to pause spoken audio of other applications.
    public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 17)
    /// The option to allow the use of Bluetooth loudspeakers.
    public static let allowBluetoothA2DP = CategoryOptions(rawValue: 32)
    /// The option to allow the use of AirPlay devices.
    public static let allowAirPlay = CategoryOptions(rawValue: 64)
  }

  /// The options for activating the audio session.
  public struct SetActiveOptions: OptionSet, Sendable {
    /// The raw bits of the options, as on Apple's systems.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The option to notify other applications, on deactivation, that they may resume their audio.
    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }

  private struct Settings {
    var category = Category.soloAmbient
    var mode = Mode.default
    var categoryOptions: CategoryOptions = []
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
  open var categoryOptions: CategoryOptions { lock.withLock { settings.categoryOptions } }

  /// A Boolean value that indicates whether haptics are allowed while audio is recorded.
  ///
  /// The value has no effect: haptics always play.
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
      settings.categoryOptions = options
    }
  }

  /// Stores a mode.
  open func setMode(_ mode: Mode) throws { lock.withLock { settings.mode = mode } }

  /// Stores whether haptics are allowed while audio is recorded.
  open func setAllowHapticsAndSystemSoundsDuringRecording(_ isAllowed: Bool) throws {
    lock.withLock { settings.allowsHapticsDuringRecording = isAllowed }
  }

  /// Accepts the activation or deactivation of the session without any effect.
  open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {}

  /// The name of the notification about an interruption of the session.
  ///
  /// On Linux, the notification is never posted.
  public class var interruptionNotification: Notification.Name {
    Notification.Name("AVAudioSessionInterruptionNotification")
  }

  /// The name of the notification about a reset of the media services.
  ///
  /// On Linux, the notification is never posted.
  public class var mediaServicesWereResetNotification: Notification.Name {
    Notification.Name("AVAudioSessionMediaServicesWereResetNotification")
  }
}

/// A position in an audio file, in frames.
public typealias AVAudioFramePosition = Int64

/// The delegate of an audio player.
public protocol AVAudioPlayerDelegate: AnyObject {
  /// Reports the end of a sound.
  ///
  /// The method is never called on Linux, because its effects belong to a phone.
  func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool)
}

extension AVAudioPlayerDelegate {
  /// The default implementation, which ignores the end of a sound.
  public func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {}
}

/// A silent player of a sound file, which advances its playback position.
///
/// In a test with a virtual device, it follows the device's clock.
///
/// Any thread may call.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
  private struct State {
    var soundOffsetAtStartSeconds = 0.0
    /// The start time of the player on the media clock, in seconds; nil for a stopped player.
    var mediaClockSecondsAtStart: Double?
    var volume: Float = 1
    var repetitionCount = 0
  }

  /// The URL of the sound file, or nil if the player was created from data.
  public let url: URL?
  /// The duration of the sound in seconds, or 0 if Temblor cannot read the file.
  public let duration: TimeInterval
  /// The player's delegate. The player never calls it.
  open weak var delegate: (any AVAudioPlayerDelegate)?
  private let lock = NSLock()
  private var state = State()

  /// Creates a player for a sound file. Throws an error if the file does not exist.
  public init(contentsOf url: URL) throws {
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: url.path])
    }
    self.url = url
    let loadedSound = try? Sound(contentsOf: url.path)
    duration = loadedSound.map { Double($0.frameCount) / $0.rate } ?? 0
  }

  /// Creates a player for sound data. The duration of the sound is unknown.
  public init(data: Data) throws {
    url = nil
    duration = 0
  }

  /// Returns true, because playback needs no preparation.
  @discardableResult open func prepareToPlay() -> Bool { true }

  /// Starts playing at the current position. The method always succeeds.
  @discardableResult open func play() -> Bool {
    lock.withLock {
      if playbackPositionSeconds(of: state) == nil {
        state.mediaClockSecondsAtStart = MediaClock.nowSeconds
      }
    }
    return true
  }

  /// Pauses the player at its current position.
  open func pause() {
    lock.withLock {
      state.soundOffsetAtStartSeconds =
        playbackPositionSeconds(of: state) ?? state.soundOffsetAtStartSeconds
      state.mediaClockSecondsAtStart = nil
    }
  }

  /// Stops the player at its current position.
  open func stop() { pause() }

  /// A Boolean value that indicates whether the player is playing.
  open var isPlaying: Bool { lock.withLock { playbackPositionSeconds(of: state) != nil } }

  /// The playback position, in seconds. The position is 0 after the end of the sound.
  open var currentTime: TimeInterval {
    get {
      lock.withLock {
        playbackPositionSeconds(of: state)
          ?? (state.mediaClockSecondsAtStart == nil ? state.soundOffsetAtStartSeconds : 0)
      }
    }
    set {
      lock.withLock {
        if state.mediaClockSecondsAtStart != nil {
          state.mediaClockSecondsAtStart = MediaClock.nowSeconds
        }
        let end = duration > 0 ? duration : .infinity
        state.soundOffsetAtStartSeconds = min(max(0, newValue.isFinite ? newValue : 0), end)
      }
    }
  }

  /// The player's volume, 0…1. The volume has no effect.
  open var volume: Float {
    get { lock.withLock { state.volume } }
    set { lock.withLock { state.volume = newValue } }
  }

  /// The number of repetitions of the sound; a negative number repeats it forever.
  open var numberOfLoops: Int {
    get { lock.withLock { state.repetitionCount } }
    set { lock.withLock { state.repetitionCount = newValue } }
  }

  /// Returns the playback position in seconds, or nil if the player is stopped or has ended.
  ///
  /// Requires the lock.
  private func playbackPositionSeconds(of state: State) -> Double? {
    guard let startSeconds = state.mediaClockSecondsAtStart else { return nil }
    let elapsedSeconds =
      state.soundOffsetAtStartSeconds + max(0, MediaClock.nowSeconds - startSeconds)
    guard duration > 0 else { return elapsedSeconds }
    if state.repetitionCount >= 0, elapsedSeconds >= duration * Double(state.repetitionCount + 1) {
      return nil
    }
    return elapsedSeconds.truncatingRemainder(dividingBy: duration)
  }
}

/// The clock of audio playback, which a virtual device can replace.
///
/// Without a virtual device, it is the system clock.
package enum MediaClock {
  private static let virtualTimeSource = Mutex<@Sendable () -> Double?>({ nil })

  /// Sets the closure that returns the virtual time.
  ///
  /// If the closure returns nil, the clock follows the system clock.
  package static func setVirtualTimeSource(_ virtual: @escaping @Sendable () -> Double?) {
    virtualTimeSource.withLock { $0 = virtual }
  }

  /// The current time on a monotonic clock, in seconds.
  package static var nowSeconds: Double {
    virtualTimeSource.withLock { $0 }() ?? ProcessInfo.processInfo.systemUptime
  }
}
