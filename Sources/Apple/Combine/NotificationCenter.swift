public import Foundation

extension NotificationCenter {
  /// Calls a closure for each notification with a name.
  ///
  /// The overload is declared as on Apple's systems, where functions of Objective-C count as
  /// `@preconcurrency`: in language mode 5, a closure of the main actor causes a warning at most.
  /// Foundation's own function makes it an error. The type of `object` makes this overload the
  /// preferred one.
  ///
  /// - Parameters:
  ///   - name: The name; nil for all notifications.
  ///   - object: The sender; nil for all senders.
  ///   - queue: The queue on which the closure is called; nil for the sender's thread.
  ///   - block: The closure.
  /// - Returns: A token for `removeObserver(_:)`.
  @preconcurrency
  public func addObserver(
    forName name: Notification.Name?, object: AnyObject?, queue: OperationQueue?,
    using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    addObserver(forName: name, object: object as Any?, queue: queue, using: block)
  }

  /// Returns a publisher of the notifications with a name.
  public func publisher(for name: Notification.Name, object: AnyObject? = nil)
    -> AnyPublisher<Notification, Never>
  {
    AnyPublisher { receive in
      let carried = UncheckedClosureTransfer(receive)
      let token = self.addObserver(forName: name, object: object as Any?, queue: nil) {
        carried.transferredClosure($0)
      }
      return AnyCancellable { self.removeObserver(token) }
    }
  }
}
