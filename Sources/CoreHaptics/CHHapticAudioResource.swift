public import Foundation

/// A sound registered with an engine; greater than 0.
public typealias CHHapticAudioResourceID = Int

/// A key of the options a sound is registered with.
public typealias CHHapticAudioResourceKey = NSString

/// Whether a registered sound is ramped in and out: a Boolean, true unless given.
public let CHHapticAudioResourceKeyUseVolumeEnvelope = "EventWaveformUseVolumeEnvelope"

/// Whether a registered sound repeats as a whole for the event's duration: a Boolean, false unless
/// given.
public let CHHapticAudioResourceKeyLoopEnabled = "EventWaveformLoopEnabled"
