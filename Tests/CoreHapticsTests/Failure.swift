import CoreHaptics

/// The code and sentence of the error a call throws, or why there is none.
func failure(_ call: () throws -> Any) -> String {
  do {
    let value = try call()
    return "no error but \(value)"
  } catch let error as CHHapticError {
    return "\(error.errorCode): \(error.localizedDescription)"
  } catch {
    return "foreign error \(error)"
  }
}
