public import Foundation

/// The audio session of a process, as far as haptic code sets it up: settings are kept and change nothing.
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
  open var allowHapticsAndSystemSoundsDuringRecording: Bool { lock.withLock { settings.allowsHapticsDuringRecording } }

  /// Keeps a category.
  open func setCategory(_ category: Category) throws { try setCategory(category, mode: .default, options: []) }

  /// Keeps a category and options.
  open func setCategory(_ category: Category, options: CategoryOptions = []) throws {
    try setCategory(category, mode: .default, options: options)
  }

  /// Keeps a category, a mode and options.
  open func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
    lock.withLock { (settings.category, settings.mode, settings.options) = (category, mode, options) }
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
