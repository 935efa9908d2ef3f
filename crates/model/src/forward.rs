//! Methods that a model built on another one takes over unchanged.

/// The methods of [`Model`](crate::Model) that neither depend on the order and the selection of steps nor affect them.
macro_rules! forward_to_model {
    () => {
        fn fire(&self, step: M::Step, state: &mut crate::StateBuf) -> crate::Fired {
            self.model.fire(step, state)
        }

        fn is_transient(&self, state: &crate::State) -> bool {
            self.model.is_transient(state)
        }

        fn marks(&self, state: &crate::State) -> crate::Marks {
            self.model.marks(state)
        }

        fn unused_bits(&self) -> Option<crate::UnusedBits> {
            self.model.unused_bits()
        }

        fn should_restart(&self, steps: u64) -> bool {
            self.model.should_restart(steps)
        }
    };
}

pub(crate) use forward_to_model;
