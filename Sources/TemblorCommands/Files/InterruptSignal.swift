/// Tells a verb of the first signal that asks to stop, so that it can fade out and end; a second ends it at once.
///
/// When the verb returns, the program ends by that signal.
package struct InterruptSignal: ~Copyable {
  /// Readable from the first signal on; nothing is to be read from it.
  package let descriptor: Int32

  /// Asks for notice; a signal before that ends the program.
  package init() { descriptor = SignalHandling.addListener() }

  /// Whether a signal came.
  package var isGiven: Bool { SignalHandling.isRequested }

  deinit { SignalHandling.removeListener() }
}
