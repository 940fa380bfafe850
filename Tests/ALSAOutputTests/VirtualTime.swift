import FaultyPCM

/// The clock that faulty devices go by, not that of playback.
typealias VirtualTime = FaultyPCM.VirtualTime
