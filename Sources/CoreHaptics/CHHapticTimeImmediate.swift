public import Foundation

/// The time that means now, wherever a player is given a time: 0.
public var CHHapticTimeImmediate: TimeInterval { 0 }
