/// What an advanced player calls when it has ended; the error says why it could not play.
public typealias CHHapticAdvancedPatternPlayerCompletionHandler = ((any Error)?) -> Void
